// The daemon dies once, at every journal write of a run in turn: before it, inside it or after it. It comes back from
// its journal, and nothing that was acknowledged is lost, nothing is done twice, no slot has two owners, and every job
// ends with exactly the work it was given.
#include <catch2/catch.hpp>

#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::CrashPoint;
using sim::SimResult;
using sim::SimSetup;

TEST_CASE("a crash of the daemon at any one journal write changes nothing that was promised") {
  std::uint64_t runs = 0;
  for_each_seed("one crash", kSeeds / 2, [&](std::uint64_t seed, Rng&) {
    SimSetup setup = small_world(seed);
    setup.crash_plan = never();
    const SimResult calm = run_soundly(setup);
    // Every write of the run, each at one point; neighbouring seeds take the other points.
    for (std::uint64_t write = 1; write <= calm.journal_writes; ++write) {
      const auto point = static_cast<CrashPoint>((seed + write) % 3);
      setup.crash_plan = once(write, point);
      const SimResult crashed = run(setup);
      ++runs;
      const auto law = broken_law(crashed);
      INFO("crash at write " << write << ", point " << static_cast<int>(point) << ": "
                             << (law ? words(crashed, *law) : std::string()));
      REQUIRE_FALSE(law);
      REQUIRE(crashed.crashes == 1);
    }
  });
  WARN(runs << " runs with one crash each");
}

}  // namespace
}  // namespace tidepool::test
