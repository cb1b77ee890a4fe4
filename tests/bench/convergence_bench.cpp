// What a change of size does to learning: loss against samples for a fixed job, an elastic one with a constant batch,
// and a linear rule at a fourfold jump with and without momentum compensation. Three seeds each; real workers, real
// switches, the trainer's own loop. Every run of one seed sees the same samples in the same order.
//
// Each line of output is a run with its curve, or a summary over the seeds. tools/plot-convergence draws the curves.
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.hpp"
#include "tests/bench/crew.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"
#include "workers/trainer/training.hpp"

namespace {

using namespace tidepool;
using nlohmann::json;

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSamples = 300'000;
constexpr int kSeeds = 3;
constexpr int kWorkersMax = 4;
constexpr std::size_t kTextBytes = 60'000;
constexpr std::size_t kJudges = 1'000;     // samples that the loss is taken over
constexpr std::int64_t kLookEvery = 20;    // steps between two looks at the loss
constexpr std::int64_t kLookClosely = 60;  // steps after a change of size with a look at each
constexpr std::size_t kPointsMax = 4'096;

struct Resize {
  std::int64_t at_samples = 0;
  int size = 1;
};

struct Variant {
  std::string name;
  runtime::OnResize on_resize = runtime::OnResize::kConstant;
  int warmup_steps = runtime::kWarmupSteps;
  std::vector<Resize> sizes;  // the first at 0
};

const std::vector<Variant> kVariants = {
    {.name = "fixed", .sizes = {{0, 1}}},
    {.name = "constant", .sizes = {{0, 1}, {kSamples / 4, 4}, {kSamples / 2, 2}, {kSamples * 3 / 4, 4}}},
    {.name = "linear, at once",
     .on_resize = runtime::OnResize::kLinear,
     .warmup_steps = 0,
     .sizes = {{0, 1}, {kSamples / 2, 4}}},
    {.name = "linear, compensated", .on_resize = runtime::OnResize::kLinear, .sizes = {{0, 1}, {kSamples / 2, 4}}},
};

// Words that follow each other as a chain of the first order: something to learn, and something that cannot be learned.
std::string made_up_text() {
  const std::vector<std::string> words = {
      "tide",  "pool",    "worker", "the",    "a",       "step", "switch", "grows", "job",  "leaves",  "slot",
      "and",   "shrinks", "then",   "daemon", "decides", "of",   "to",     "in",    "node", "rank",    "waits",
      "moves", "falls",   "batch",  "sample", "epoch",   "loss", "order",  "each",  "sum",  "gradient"};
  Rng rng(11);
  std::vector<std::array<std::size_t, 5>> followers(words.size());
  for (auto& of : followers) {
    for (std::size_t& word : of) word = rng.below(words.size());
  }
  std::string text;
  std::size_t word = 0;
  while (text.size() < kTextBytes) {
    word = rng.chance(0.9) ? followers[word][rng.below(5)] : rng.below(words.size());
    text += words[word];
    text += rng.chance(0.08) ? ".\n" : " ";
  }
  return text;
}

struct Point {
  std::int64_t samples = 0;
  double loss = 0;
  int size = 0;
};

// Shared by the bench and the first worker, which is rank 0 of every generation.
struct Record {
  std::atomic<std::int64_t> samples{0};
  std::atomic<std::int64_t> allowed{0};  // the worker waits here for the next change of size
  std::atomic<std::size_t> points{0};
  std::array<Point, kPointsMax> point{};
};

// Looks at the loss over a fixed set of samples, often around a change of size.
class Watcher {
 public:
  Watcher(trainer::Task& task, Record& record)
      : task_(task), record_(record), unused_(task.model->parameters().size()) {
    Rng rng(99);
    std::vector<std::uint64_t> judges(kJudges);
    for (std::uint64_t& sample : judges) sample = rng.below(task.data->samples());
    if (!task.data->fill(judges, batch_).ok()) throw std::runtime_error("the data cannot be read");
  }

  void operator()(const trainer::StepReport& report) {
    if (report.rank != 0) return;
    const std::int64_t samples = record_.samples + static_cast<std::int64_t>(report.samples);
    if (report.size != size_) changed_at_ = report.steps;
    size_ = report.size;
    const std::size_t next = record_.points;
    if ((report.steps % kLookEvery == 0 || report.steps - changed_at_ < kLookClosely) && next < kPointsMax) {
      const double loss = task_.model->add_gradient(batch_.view(), unused_) / static_cast<double>(kJudges);
      record_.point[next] = {.samples = samples, .loss = loss, .size = report.size};
      record_.points = next + 1;
    }
    record_.samples = samples;
    while (record_.samples >= record_.allowed) std::this_thread::yield();
  }

 private:
  trainer::Task& task_;
  Record& record_;
  std::vector<float> unused_;
  trainer::Batch batch_;
  int size_ = 0;
  std::int64_t changed_at_ = 0;
};

trainer::Settings settings_of(const Variant& variant, std::uint64_t seed) {
  const bool jumps = variant.on_resize == runtime::OnResize::kLinear;
  const std::int64_t half = kSamples / 2 / kBatch;
  return {.model = "charlm",
          .data = {"text"},
          .steps = half + (jumps ? half / kWorkersMax : half),
          .hidden = 48,
          .context = 8,
          .embedding = 8,
          .lr = 0.2,
          .momentum = 0.9,
          .seed = seed,
          .global_batch = kBatch,
          .per_worker_max = kBatch,
          .on_resize = variant.on_resize,
          .base_size = 1,
          .warmup_steps = variant.warmup_steps};
}

int work(const test::WorkerPlace& place, const trainer::Settings& settings, const std::string& folder, Record& record) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto task = trainer::build_task(settings, folder);
  if (!task.ok()) return 2;
  runtime::SessionOptions options;
  trainer::apply_settings(settings, *task->data, options);
  options.build = runtime::BuildMode::kWindow;  // the change comes at the next step, not some steps later
  options.agent_socket = place.socket_path;
  options.worker = place.worker;
  auto session = runtime::Session::open(options);
  if (!session.ok()) return 2;
  return trainer::train(**session, *task, settings, Watcher(*task, record)).ok() ? 0 : 1;
}

struct Run {
  std::vector<Point> points;
  double noise_scale = 0;

  [[nodiscard]] std::vector<double> losses(std::int64_t from, std::int64_t until) const {
    std::vector<double> found;
    for (const Point& point : points) {
      if (point.samples >= from && point.samples < until) found.push_back(point.loss);
    }
    return found;
  }
  // First sample count with the last size.
  [[nodiscard]] std::int64_t changed_at() const {
    const auto last = points.back().size;
    return std::find_if(points.begin(), points.end(), [&](const Point& point) { return point.size == last; })->samples;
  }
};

Run run(const Variant& variant, std::uint64_t seed, const std::string& folder) {
  const test::Shared<Record> record;
  const trainer::Settings settings = settings_of(variant, seed);
  test::TestLeader leader([&](const test::WorkerPlace& place) { return work(place, settings, folder, *record); });
  int largest = 1;
  for (const Resize& resize : variant.sizes) largest = std::max(largest, resize.size);
  std::vector<WorkerId> workers = test::boot_crew(leader, largest);
  const auto wait = [&](auto done) {
    if (!leader.run_until(done, 600'000)) throw std::runtime_error("the workers do not come to their end");
  };
  for (std::size_t i = 0; i < variant.sizes.size(); ++i) {
    const Resize& resize = variant.sizes[i];
    wait([&] { return record->samples >= resize.at_samples; });
    std::vector<WorkerId> members(workers.begin(),
                                  workers.begin() + std::min<int>(resize.size, static_cast<int>(workers.size())));
    leader.commit(members);
    record->allowed = i + 1 < variant.sizes.size() ? variant.sizes[i + 1].at_samples : INT64_MAX;
    // A worker that leaves has gone for good: its place is taken by a new worker, started in time.
    while (static_cast<int>(workers.size()) > resize.size && resize.at_samples > 0) workers.pop_back();
    while (static_cast<int>(workers.size()) < largest) workers.push_back(leader.spawn());
  }
  wait([&] { return !leader.received<api::FinishedMessage>().empty(); });
  Run result{.points = {record->point.begin(), record->point.begin() + static_cast<std::ptrdiff_t>(record->points)}};
  const auto reports = leader.received<api::StepsMessage>();
  result.noise_scale = reports.back().noise_scale.value_or(-1);
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += std::pow(value - mean(values), 2);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// What is told of a run: the loss at the end, and of a jump how far it throws the loss back.
struct Outcome {
  double final_loss = 0;
  double worst_rise = 0;  // the worst look after the jump, above the mean before it
  double mean_rise = 0;   // over kLookClosely steps
};

Outcome judge(const Run& run, const Variant& variant) {
  Outcome outcome{.final_loss = mean(run.losses(run.points.back().samples - kSamples / 10, INT64_MAX))};
  if (variant.on_resize != runtime::OnResize::kLinear) return outcome;
  const std::int64_t jump = run.changed_at();
  const double before = mean(run.losses(jump - kSamples / 10, jump));
  const auto after = run.losses(jump, jump + kLookClosely * kBatch * kWorkersMax);
  outcome.worst_rise = *std::max_element(after.begin(), after.end()) - before;
  outcome.mean_rise = mean(after) - before;
  return outcome;
}

void print(const json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void bench_variant(const Variant& variant, const std::string& folder) {
  std::vector<double> finals;
  std::vector<double> worst;
  std::vector<double> rises;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Run result = run(variant, seed, folder);
    const Outcome outcome = judge(result, variant);
    finals.push_back(outcome.final_loss);
    worst.push_back(outcome.worst_rise);
    rises.push_back(outcome.mean_rise);
    json curve = json::array();
    for (const Point& point : result.points) curve.push_back({point.samples, point.loss, point.size});
    print({{"bench", "convergence"},
           {"run", variant.name},
           {"seed", seed},
           {"final_loss", outcome.final_loss},
           {"noise_scale", result.noise_scale},
           {"curve", std::move(curve)}});
  }
  json line = {{"bench", "convergence"}, {"metric", "final loss, " + variant.name}, {"value", mean(finals)},
               {"unit", "nats"},         {"deviation", deviation(finals)},          {"seeds", finals}};
  print(line);
  if (variant.on_resize != runtime::OnResize::kLinear) return;
  print({{"bench", "convergence"},
         {"metric", "worst rise after the jump, " + variant.name},
         {"value", mean(worst)},
         {"unit", "nats"},
         {"deviation", deviation(worst)},
         {"seeds", worst}});
  print({{"bench", "convergence"},
         {"metric", "mean rise over 60 steps, " + variant.name},
         {"value", mean(rises)},
         {"unit", "nats"},
         {"deviation", deviation(rises)},
         {"seeds", rises}});
}

}  // namespace

int main() {
  try {
    const test::TemporaryFolder folder;
    std::ofstream(folder / "text") << made_up_text();
    for (const Variant& variant : kVariants) bench_variant(variant, folder.path().string());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convergence_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
