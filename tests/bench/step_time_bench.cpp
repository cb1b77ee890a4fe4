// A whole training step in steady state, over two workers on loopback: tidepool-trainer's own loop through libtidepool
// against the same model, data and optimizer in a bare loop over Gloo. The two take turns, so that a busy machine slows
// both; the medians of all rounds are compared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/crew.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/runtime/permutation.hpp"
#include "workers/trainer/batch_loader.hpp"
#include "workers/trainer/sgd.hpp"
#include "workers/trainer/training.hpp"

namespace {

namespace runtime = tidepool::runtime;
namespace test = tidepool::test;
namespace trainer = tidepool::trainer;
using Clock = std::chrono::steady_clock;

constexpr int kWorkers = 2;
constexpr int kWarmUp = 20;
constexpr int kSteps = 100;
constexpr int kRounds = 6;

// Step times that the first worker leaves for the parent.
struct Figures {
  int count = 0;
  double step_ms[kSteps] = {};

  void add(Clock::time_point begin, Clock::time_point end) {
    if (count < kSteps) step_ms[count++] = std::chrono::duration<double, std::milli>(end - begin).count();
  }
};

double median(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("no step was measured");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

trainer::Settings settings_for(const std::string& text) {
  trainer::Settings settings;
  settings.model = "charlm";
  settings.data = {text};
  settings.steps = kWarmUp + kSteps;
  settings.hidden = 384;
  return settings;
}

// Times between the ends of steps, after the warm-up.
class StepWatch {
 public:
  explicit StepWatch(Figures& figures) : figures_(figures) {}
  void step_ended() {
    const auto now = Clock::now();
    if (++steps_ > kWarmUp) figures_.add(last_, now);
    last_ = now;
  }

 private:
  Figures& figures_;
  Clock::time_point last_;
  int steps_ = 0;
};

// What a careful person writes without libtidepool: the same share each step, one ring allreduce, the same optimizer.
int bare_worker(const trainer::Settings& settings, const std::shared_ptr<gloo::Context>& context, Figures& figures) {
  auto task = trainer::build_task(settings, "/");
  if (!task.ok()) return 1;
  const std::span<float> parameters = task->model->parameters();
  std::vector<float> gradient(parameters.size());
  trainer::Sgd optimizer(settings.lr, settings.momentum, parameters.size());
  trainer::BatchLoader loader(*task->data);
  const runtime::Permutation order(settings.seed, 0, task->data->samples());
  const auto batch_size = static_cast<std::uint64_t>(settings.global_batch);
  const auto share_of = [&](std::uint64_t step) {
    std::vector<std::uint64_t> samples;
    const std::uint64_t begin = step * batch_size + static_cast<std::uint64_t>(context->rank) * batch_size / kWorkers;
    for (std::uint64_t i = 0; i < batch_size / kWorkers; ++i) {
      samples.push_back(order.at((begin + i) % task->data->samples()));
    }
    return samples;
  };
  StepWatch watch(figures);
  for (std::uint64_t step = 0; step < static_cast<std::uint64_t>(settings.steps); ++step) {
    const auto batch = loader.take(share_of(step));
    if (!batch.ok()) return 1;
    loader.expect(share_of(step + 1));
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    static_cast<void>(task->model->add_gradient(*batch, gradient));
    test::sum_over(context, gradient);
    optimizer.apply(gradient, {.samples = batch_size}, parameters);
    if (context->rank == 0) watch.step_ended();
  }
  return 0;
}

std::vector<double> bare_round(const trainer::Settings& settings) {
  const test::Shared<Figures> figures;
  test::run_gloo_crew(kWorkers, [&](const auto& context) { return bare_worker(settings, context, *figures); });
  return {figures->step_ms, figures->step_ms + figures->count};
}

int session_worker(const trainer::Settings& settings, const test::WorkerPlace& place, Figures& figures) {
  auto task = trainer::build_task(settings, "/");
  if (!task.ok()) return 1;
  runtime::SessionOptions options;
  trainer::apply_settings(settings, *task->data, options);
  options.agent_socket = place.socket_path;
  options.worker = place.worker;
  auto session = runtime::Session::open(options);
  if (!session.ok()) return 1;
  StepWatch watch(figures);
  const auto ending = trainer::train(**session, *task, settings, [&](const trainer::StepReport& report) {
    if (report.rank == 0) watch.step_ended();
  });
  return ending.ok() ? 0 : 1;
}

std::vector<double> session_round(const trainer::Settings& settings) {
  const test::Shared<Figures> figures;
  test::run_crew(kWorkers, [&](const test::WorkerPlace& place) { return session_worker(settings, place, *figures); });
  return {figures->step_ms, figures->step_ms + figures->count};
}

void run() {
  const test::TemporaryFolder folder;
  const std::string text = (folder.path() / "text.txt").string();
  {
    std::ofstream out(text);
    for (int i = 0; i < 4'000; ++i) out << i << " times the tide came in, and " << i << " times the tide went out\n";
  }
  const trainer::Settings settings = settings_for(text);
  std::vector<double> ours;
  std::vector<double> bare;
  for (int round = 0; round < kRounds; ++round) {
    for (const double value : session_round(settings)) ours.push_back(value);
    for (const double value : bare_round(settings)) bare.push_back(value);
  }
  const nlohmann::json line = {
      {"bench", "step_time"},     {"metric", "charlm_2_workers_median"},  {"value", median(ours)}, {"unit", "ms"},
      {"baseline", median(bare)}, {"ratio", median(ours) / median(bare)}, {"n", ours.size()}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_time_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
