// A whole training step in steady state, over two workers on loopback: tidepool-trainer's own loop through libtidepool
// against the same model, data and optimizer in a bare loop over Gloo. The two take turns, so that a busy machine slows
// both; the medians of all rounds are compared.
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"
#include "workers/runtime/permutation.hpp"
#include "workers/trainer/batch_loader.hpp"
#include "workers/trainer/sgd.hpp"
#include "workers/trainer/training.hpp"

namespace {

namespace runtime = tidepool::runtime;
namespace trainer = tidepool::trainer;
using tidepool::WorkerId;
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

Figures* shared_figures() {
  void* memory = ::mmap(nullptr, sizeof(Figures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  return new (memory) Figures;
}

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
  explicit StepWatch(Figures* figures) : figures_(figures) {}
  void step_ended() {
    const auto now = Clock::now();
    if (++steps_ > kWarmUp) figures_->add(last_, now);
    last_ = now;
  }

 private:
  Figures* figures_;
  Clock::time_point last_;
  int steps_ = 0;
};

// What a careful person writes without libtidepool: the same share each step, one ring allreduce, the same optimizer.
int bare_worker(const trainer::Settings& settings, int rank, const std::string& folder, Figures* figures) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, kWorkers);
  context->connectFullMesh(store, device);
  auto task = trainer::build_task(settings, folder);
  if (!task.ok()) return 1;
  const std::span<float> parameters = task->model->parameters();
  std::vector<float> gradient(parameters.size());
  trainer::Sgd optimizer(settings.lr, settings.momentum, parameters.size());
  trainer::BatchLoader loader(*task->data);
  const runtime::Permutation order(settings.seed, 0, task->data->samples());
  const auto batch_size = static_cast<std::uint64_t>(settings.global_batch);
  const auto share_of = [&](std::uint64_t step) {
    std::vector<std::uint64_t> samples;
    const std::uint64_t begin = step * batch_size + static_cast<std::uint64_t>(rank) * batch_size / kWorkers;
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
    gloo::AllreduceOptions call(context);
    call.setOutput(gradient.data(), gradient.size());
    call.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    call.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(call);
    optimizer.apply(gradient, {.samples = batch_size}, parameters);
    if (rank == 0) watch.step_ended();
  }
  return 0;
}

std::vector<double> bare_round(const trainer::Settings& settings) {
  const tidepool::test::TemporaryFolder folder;
  Figures* figures = shared_figures();
  std::vector<pid_t> children;
  for (int rank = 0; rank < kWorkers; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(bare_worker(settings, rank, folder.path().string(), figures));
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  return {figures->step_ms, figures->step_ms + figures->count};
}

int session_worker(const trainer::Settings& settings, const tidepool::test::WorkerPlace& place, Figures* figures) {
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
  Figures* figures = shared_figures();
  tidepool::test::TestLeader leader(
      [&](const tidepool::test::WorkerPlace& place) { return session_worker(settings, place, figures); });
  std::vector<WorkerId> workers;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(leader.spawn());
  const bool ready = leader.run_until([&] {
    return std::all_of(workers.begin(), workers.end(), [&](WorkerId worker) { return leader.ready(worker); });
  });
  if (!ready) throw std::runtime_error("the workers did not start");
  leader.commit(workers);
  if (!leader.run_until([&] { return leader.living() == 0; }, 300'000)) throw std::runtime_error("the workers hang");
  return {figures->step_ms, figures->step_ms + figures->count};
}

void run() {
  const tidepool::test::TemporaryFolder folder;
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
