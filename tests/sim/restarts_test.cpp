// Jobs whose programs are restarted at each change, beside others, while the daemon, nodes and programs die: their work
// is done in the end, no two generations of one program ever run at the same time, and no slot is lost.
#include <catch2/catch.hpp>

#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::PlantedBug;
using sim::SimResult;
using sim::SimSetup;

// Of the small world's jobs about two thirds are restarted.
SimSetup restarting_world(std::uint64_t seed) {
  SimSetup setup = small_world(seed);
  Rng rng(seed ^ 0x5ea7U);
  for (auto& job : setup.workload.jobs) {
    job.truth.restarts = rng.chance(0.67);
    job.spec.resize = job.truth.restarts ? core::ResizeMode::kRestart : core::ResizeMode::kLive;
  }
  setup.keep_decisions = true;
  return setup;
}

bool took(const SimResult& result, const std::string& text) {
  return std::any_of(result.decision_lines.begin(), result.decision_lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST_CASE("a restarted job on healthy nodes starts once and finishes at its preferred size") {
  SimSetup setup = one_job_world();
  setup.keep_decisions = true;
  auto& job = setup.workload.jobs[0];
  job.truth.restarts = true;
  job.spec.resize = core::ResizeMode::kRestart;
  job.spec.elastic = {.min = 1, .max = 4, .preferred = 3, .sizes = {1, 2, 3, 4}};
  const SimResult result = run_soundly(setup);
  const core::Job& seen = *result.jobs.begin()->second;
  CHECK(seen.membership.generation == 1);
  CHECK(seen.recovery.restarts == 0);
  CHECK(took(result, "NoMeasurements"));
}

TEST_CASE("restarted jobs keep every promise among failing nodes and programs, and a daemon that dies") {
  int failures = 0;
  int regrown = 0;
  for_each_seed("restarts", kSeeds, [&](std::uint64_t seed, Rng&) {
    const SimResult result = run_soundly(troubled(restarting_world(seed), seed));
    failures += took(result, "ProgramFailed") ? 1 : 0;
    regrown += took(result, "BackToSize") ? 1 : 0;
  });
  WARN(failures << " runs with failed programs, " << regrown << " that grew back");
  if (!test::all_seeds_run()) return;
  CHECK(failures > 0);
  CHECK(regrown > 0);
}

TEST_CASE("planted: programs launched before the older ones have ended are seen") {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SimSetup setup = troubled(restarting_world(seed), seed);
    setup.bug = PlantedBug::kLaunchesAtOnce;
    setup.limit = Duration::seconds(900);
    const auto law = broken_law(run(setup));
    noticed += law && law->find("was launched while") != std::string::npos ? 1 : 0;
  }
  WARN(noticed << " of 60 seeds notice");
  CHECK(noticed >= 1);
}

}  // namespace
}  // namespace tidepool::test
