#include "workers/agent/loop/jobs_here.hpp"

#include <catch2/catch.hpp>

namespace tidepool::agent {

TEST_CASE("a job leaves the node with the last of its workers here, and with no other") {
  JobsHere jobs;
  jobs.enter(WorkerId(1), JobId(7));
  jobs.enter(WorkerId(2), JobId(7));
  jobs.enter(WorkerId(3), JobId(8));

  CHECK_FALSE(jobs.leave(WorkerId(1)).has_value());
  CHECK_FALSE(jobs.leave(WorkerId(1)).has_value());
  const auto left = jobs.leave(WorkerId(2));
  REQUIRE(left.has_value());
  CHECK(left->job == JobId(7));
  CHECK_FALSE(left->ended);
  CHECK(jobs.leave(WorkerId(3))->job == JobId(8));
}

TEST_CASE("that a job has ended for good is told at once if no worker of it is here, and else with the last") {
  JobsHere jobs;
  CHECK(jobs.end(JobId(7)));

  jobs.enter(WorkerId(1), JobId(7));
  jobs.enter(WorkerId(2), JobId(7));
  CHECK_FALSE(jobs.end(JobId(7)));
  CHECK_FALSE(jobs.leave(WorkerId(2)).has_value());
  CHECK(jobs.leave(WorkerId(1))->ended);

  // It is told once: workers of a job that has the id again are of another one.
  jobs.enter(WorkerId(3), JobId(7));
  CHECK_FALSE(jobs.leave(WorkerId(3))->ended);
}

}  // namespace tidepool::agent
