// The daemon dies again and again while nodes and workers fail, and keeps every promise all the same. Bugs planted
// into the model of the daemon show that the property can fail.
#include <string>

#include <catch2/catch.hpp>

#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::PlantedBug;
using sim::SimResult;
using sim::SimSetup;

TEST_CASE("a daemon that dies again and again, among failing nodes and workers, still keeps every promise") {
  std::int64_t crashes = 0;
  for_each_seed("many crashes", kSeeds,
                [&](std::uint64_t seed, Rng&) { crashes += run_soundly(troubled(small_world(seed), seed)).crashes; });
  WARN(crashes << " crashes survived");
}

// On two nodes of four slots, so that a group may find room on one of them.
SimSetup grouped_world(std::uint64_t seed, Rng& rng) {
  SimSetup setup = one_job_world();
  setup.seed = seed;
  core::ElasticSpec& elastic = setup.workload.jobs.front().spec.elastic;
  elastic.group = static_cast<int>(rng.between(2, 4));
  const int groups = elastic.group == 2 ? 4 : 2;
  elastic.min = elastic.group;
  elastic.max = groups * elastic.group;
  elastic.preferred = static_cast<int>(rng.between(1, groups)) * elastic.group;
  elastic.sizes.clear();
  for (int size = elastic.min; size <= elastic.max; size += elastic.group) elastic.sizes.push_back(size);
  return setup;
}

TEST_CASE("a job whose workers come and go in groups keeps every promise among the same faults") {
  for_each_seed("groups", 60, [](std::uint64_t seed, Rng& rng) {
    const SimResult result = run_soundly(troubled(grouped_world(seed, rng), seed));
    CHECK(result.rows.size() == 1);
  });
}

TEST_CASE("the same seed gives the same decisions, crashes and faults included") {
  for_each_seed("same digest", 20, [](std::uint64_t seed, Rng&) {
    const SimSetup setup = troubled(small_world(seed), seed);
    const SimResult first = run(setup);
    const SimResult second = run(setup);
    CHECK(first.digest == second.digest);
    CHECK(first.end == second.end);
  });
}

// Whether one of the seeds breaks a law that says `expected`; the first that does is enough.
bool noticed(PlantedBug bug, const std::string& expected) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SimSetup setup = troubled(small_world(seed), seed);
    setup.bug = bug;
    setup.limit = Duration::seconds(900);
    const auto law = broken_law(run(setup));
    if (!law || law->find(expected) == std::string::npos) continue;
    WARN("seed " << seed << " notices: " << *law);
    return true;
  }
  return false;
}

TEST_CASE("planted: slots of workers that were told to leave and have not left are seen to be given twice") {
  CHECK(noticed(PlantedBug::kFreesLeavingSlots, "sits on it"));
}

TEST_CASE("planted: a submission acknowledged before it is durable is seen to be lost") {
  CHECK(noticed(PlantedBug::kAcknowledgesBeforeCommit, "after recovery it is not"));
}

TEST_CASE("planted: an exit that is dropped is seen as a slot that never comes back") {
  CHECK(noticed(PlantedBug::kLosesExits, ""));
}

}  // namespace
}  // namespace tidepool::test
