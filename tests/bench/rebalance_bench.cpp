// How much of the throughput that a slow worker costs comes back when it is given a smaller share of each step: real
// processes over real communicators, whose samples take time and no processor. Beside it the ideal: of N workers, one
// of them x times slower, N - 1 + 1/x.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/crew.hpp"
#include "tests/support/test_leader.hpp"
#include "tests/support/tiny_job.hpp"

namespace {

using namespace tidepool;

constexpr int kStretches = 15;       // a figure is the median of their means
constexpr std::int64_t kSteps = 10;  // in a stretch
constexpr std::uint64_t kBatch = 240;
constexpr std::int64_t kSampleUs = 250;

void require(bool holds, const char* claim) {
  if (!holds) throw std::runtime_error(claim);
}

struct StepTimes {
  double even_ms = 0;
  double eased_ms = 0;
};

double usual_step_ms(test::TestLeader& leader, const test::Diary& diary) {
  std::vector<double> means;
  for (int i = 0; i < kStretches; ++i) {
    const std::int64_t first = diary.steps;
    const std::int64_t begin = diary.last_commit_us;
    require(leader.run_until([&] { return diary.steps >= first + kSteps; }, 120'000), "the workers step");
    means.push_back(static_cast<double>(diary.last_commit_us - begin) / 1'000 /
                    static_cast<double>(diary.steps - first));
  }
  std::sort(means.begin(), means.end());
  return means[kStretches / 2];
}

// The last of `workers` takes `slowness` times as long for a sample.
StepTimes measure(int workers, double slowness) {
  test::TinyJob job({.samples = 100 * kBatch,
                     .global_batch = kBatch,
                     .steps = 4'000,
                     .step_us = 0,
                     .sample_us = kSampleUs,
                     .slowness = {{static_cast<std::uint64_t>(workers), slowness}},
                     .keeps_digests = false});
  test::TestLeader leader([&](const test::WorkerPlace& place) { return job.work(place); });
  std::vector<std::int64_t> weights(static_cast<std::size_t>(workers), 1'000);
  weights.back() = static_cast<std::int64_t>(1'000 / slowness);
  const std::vector<WorkerId> members = test::boot_crew(leader, workers);
  leader.commit(members);
  const test::Diary& diary = job.diary(members.front());
  require(leader.run_until([&] { return diary.steps >= 20; }, 60'000), "the workers train");
  StepTimes times;
  times.even_ms = usual_step_ms(leader, diary);
  leader.share(weights);
  require(leader.run_until([&] { return !leader.received<api::RebalancedMessage>().empty(); }, 60'000),
          "the shares change");
  times.eased_ms = usual_step_ms(leader, diary);
  return times;
}

void report(int workers, double slowness, double healthy_ms) {
  const StepTimes times = measure(workers, slowness);
  const double ideal_ms = healthy_ms * workers / (workers - 1 + 1 / slowness);
  const nlohmann::json line = {
      {"bench", "rebalance"},
      {"metric", std::to_string(workers) + "_workers_one_" + nlohmann::json(slowness).dump() + "_times_slower"},
      {"value", times.eased_ms},
      {"unit", "ms a step"},
      {"baseline", ideal_ms},
      {"ratio", times.eased_ms / ideal_ms},
      {"healthy_ms", healthy_ms},
      {"even_shares_ms", times.even_ms},
      {"regained", (times.even_ms - times.eased_ms) / (times.even_ms - ideal_ms)}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    for (const int workers : {2, 4}) {
      const double healthy_ms = measure(workers, 1).even_ms;
      for (const double slowness : {1.25, 1.5, 2.0, 4.0}) report(workers, slowness, healthy_ms);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rebalance_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
