// A job that asks for a type of slot comes to a cluster whose slots are all taken by jobs that take any, for days: it
// starts within a bound, under every kind of policy, because others make room where they may be elsewhere.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::SimJob;
using sim::SimResult;
using sim::SimSetup;

constexpr Duration kComes = Duration::seconds(1'800);  // when the others have long settled
// The patience of tidal, after which a job's waiting counts as much as all that it is worth otherwise.
constexpr Duration kBound = Duration::seconds(28'800);

SimJob job_called(const std::string& name, int least, int most, Rng& rng) {
  SimJob job{.arrives = Duration::seconds(rng.between(0, 120))};
  job.truth.curve = {.lambda = 100, .sigma = 0.3 * rng.uniform(), .kappa = 0.01 * rng.uniform()};
  job.truth.global_batch = 100;
  job.truth.work_samples = 100 * 10 * 86'400;  // days
  job.truth.boot = Duration::millis(rng.between(500, 8'000));
  job.truth.switch_stall = Duration::millis(rng.between(10, 2'000));
  job.spec.name = name;
  job.spec.elastic = {.min = least, .max = most, .preferred = most, .sizes = sim::sizes_between(least, most)};
  job.spec.elastic.cooldown = Duration::seconds(rng.between(0, 60));
  job.spec.batch = {.global = 100, .per_worker_max = 100};
  job.spec.preemptible = !rng.chance(0.3);
  // What could leave slots only as a whole might find no room as a whole; that is no part of the bound.
  job.spec.mixed_types = true;
  // One whose program tells nothing has one size, whatever it allows. A live job that may have one worker only stays
  // where it is.
  if (least == most && (least == 1 || rng.chance(0.4))) {
    job.truth.restarts = true;
    job.spec.resize = core::ResizeMode::kRestart;
  }
  return job;
}

// One node of the type that is asked for, others beside it. `spare`: slots that stay free elsewhere, for policies that
// take nothing from running jobs.
SimSetup crowded(std::uint64_t seed, const std::string& policy, bool spare) {
  Rng rng(seed);
  SimSetup setup{.seed = seed};
  setup.parts = [policy] { return engine_parts(policy); };
  const int scarce = static_cast<int>(rng.between(1, 3));
  const int common = static_cast<int>(rng.between(3, 6));
  setup.kinds = {{.slots = scarce, .slot_type = "scarce"}, {.slots = common, .slot_type = "common"}};
  setup.cluster = {.nodes = 2, .slots_per_node = std::max(scarce, common)};
  const int asked = static_cast<int>(rng.between(1, scarce));
  int left = scarce + common - asked;  // what the others need at least
  for (int i = 1; left > 0; ++i) {
    const int least = static_cast<int>(rng.between(1, std::min(2, left)));
    left -= least;
    setup.workload.jobs.push_back(
        job_called("any" + std::to_string(i), least, spare || rng.chance(0.3) ? least : least + 3, rng));
  }
  SimJob typed = job_called("typed", asked, asked, rng);
  typed.arrives = kComes;
  typed.spec.slot_types = {"scarce"};
  setup.workload.jobs.push_back(typed);
  std::sort(setup.workload.jobs.begin(), setup.workload.jobs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.arrives, a.spec.name) < std::pair(b.arrives, b.spec.name);
  });
  setup.limit = kComes + kBound;
  setup.report_every = Duration::seconds(120);
  setup.keep_decisions = true;
  return setup;
}

bool took(const SimResult& result, const std::string& text) {
  return std::any_of(result.decision_lines.begin(), result.decision_lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

// What every job does and why, for a failure's message.
std::string told(const SimResult& result) {
  std::string text;
  for (const auto& [id, job] : result.jobs) {
    text += job->spec.name + " (" + core::to_text(job->state()) + ", " + std::to_string(job->size()) +
            "): " + core::sentence(job->verdict.reason) + "\n";
  }
  return text;
}

SimResult starts_in_time(const SimSetup& setup) {
  SimResult result = run(setup);
  CHECK(result.violations.empty());
  const auto typed =
      std::find_if(result.rows.begin(), result.rows.end(), [](const auto& row) { return row.name == "typed"; });
  INFO(told(result));
  CHECK(typed->started_s.has_value());
  return result;
}

}  // namespace

TEST_CASE("a job that asks for the scarce type starts in time under policies that share out the whole cluster") {
  int moved = 0;
  for_each_seed("typed demand, whole cluster", 12, [&](std::uint64_t seed, Rng&) {
    for (const char* policy : {"tidal", "las"}) {
      INFO(policy);
      moved += took(starts_in_time(crowded(seed, policy, false)), "MovedForType") ? 1 : 0;
    }
  });
  CHECK(moved > 0);
}

TEST_CASE("a job that asks for the scarce type starts in time under policies for single jobs if there is room at all") {
  int moved = 0;
  for_each_seed("typed demand, single jobs", 12, [&](std::uint64_t seed, Rng&) {
    for (const char* policy : {"fixed", "fifo", "autoscaling_engine"}) {
      INFO(policy);
      moved += took(starts_in_time(crowded(seed, policy, true)), "MovedForType") ? 1 : 0;
    }
  });
  CHECK(moved > 0);
}

}  // namespace tidepool::test
