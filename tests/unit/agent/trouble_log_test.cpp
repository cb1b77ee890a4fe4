// How much of the agent's log the programs of jobs can fill.
#include "workers/agent/system/trouble_log.hpp"

#include <catch2/catch.hpp>

namespace tidepool::agent {

TEST_CASE("of each source one line a minute is logged, with how many were left out") {
  TroubleLog log;
  const Instant begin = Instant::from_micros(1'000'000);
  CHECK(log.admit("w-1", "first", begin) == "first");
  for (int i = 0; i < 1'000; ++i) CHECK_FALSE(log.admit("w-1", "again", begin + Duration::millis(i)));
  CHECK(log.admit("w-2", "another", begin) == "another");
  CHECK(log.admit("w-1", "later", begin + TroubleLog::kEvery) == "later (1000 more of w-1 were not logged)");
  CHECK(log.admit("w-1", "last", begin + TroubleLog::kEvery * 2) == "last");
}

TEST_CASE("a line of a job's program is logged in bounded length") {
  TroubleLog log;
  const auto line = log.admit("w-1", std::string(1U << 20U, 'x'), Instant::from_micros(1'000'000));
  REQUIRE(line);
  CHECK(line->size() == TroubleLog::kLineMax);
}

}  // namespace tidepool::agent
