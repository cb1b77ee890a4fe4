// How long a job is taken to hold slots, by what jobs that have ended did.
#include "forecast/known_jobs.hpp"

#include <catch2/catch.hpp>

#include "core/state/job_kind.hpp"

namespace tidepool::forecast {
namespace {

core::Job job_that_runs(const std::string& command) {
  core::Job job;
  job.id = JobId(100);
  core::RunSpec run;
  run.command = {command};
  job.spec.run = run;
  return job;
}

void add_succeeded(core::ClusterState& state, std::uint64_t id, const std::string& command, std::int64_t seconds) {
  core::EndedJob ended;
  ended.id = JobId(id);
  ended.kind = core::kind_of(job_that_runs(command).spec);
  ended.slot_time = Duration::seconds(seconds);
  state.ended[ended.id] = std::make_shared<const core::EndedJob>(ended);
}

std::optional<double> left(const core::ClusterState& state, const char* command) {
  return KnownJobs(state).slot_seconds_left(job_that_runs(command));
}

TEST_CASE("a length is told by jobs of the same program, and not by those of another one") {
  core::ClusterState state;
  for (std::uint64_t id = 1; id <= 8; ++id) add_succeeded(state, id, "true", 1);
  CHECK(left(state, "true") == 1.0);
  CHECK_FALSE(left(state, "sleep").has_value());
  for (std::uint64_t id = 9; id <= 16; ++id) add_succeeded(state, id, "sleep", 30);
  CHECK(left(state, "sleep") == 30.0);
  CHECK(left(state, "true") == 1.0);
}

TEST_CASE("where eight programs have ended, they tell the length of another one") {
  core::ClusterState state;
  for (std::uint64_t id = 1; id <= 7; ++id) {
    add_succeeded(state, id, "program-" + std::to_string(id), static_cast<std::int64_t>(id));
  }
  CHECK_FALSE(left(state, "sleep").has_value());
  add_succeeded(state, 8, "program-8", 8);
  CHECK(left(state, "sleep") == 4.0);  // the middle one, the shorter of two
}

}  // namespace
}  // namespace tidepool::forecast
