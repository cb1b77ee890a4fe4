// DueTimes beside a plain list of which job is due when.
#include <catch2/catch.hpp>

#include <map>

#include "base/rng.hpp"
#include "policies/tidal/due_times.hpp"

namespace tidepool::policies::tidal {

TEST_CASE("a job that is due is taken once, at the newest time that was set for it, after any history") {
  Rng rng(4);
  DueTimes times;
  std::map<JobId, Instant> expected;
  Instant now;
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const JobId job(1 + rng.below(100));
    if (rng.chance(0.2)) {
      times.erase(job);
      expected.erase(job);
    } else if (rng.chance(0.9)) {
      const Instant at = now + Duration::micros(rng.between(0, 200));  // few times, so that some are set again
      times.set(job, at);
      expected[job] = at;
    } else {
      now = now + Duration::micros(rng.between(0, 40));
      IdSet<JobId> due;
      for (const auto& [id, at] : expected) {
        if (at <= now) due.insert(id);
      }
      for (const JobId id : due) expected.erase(id);
      REQUIRE(times.take(now) == due);
      taken += static_cast<int>(due.size());
    }
  }
  CHECK(taken > 1'000);
}

}  // namespace tidepool::policies::tidal
