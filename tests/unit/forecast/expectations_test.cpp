// How long starts and changes are taken to last, by what jobs have measured, also those that have ended.
#include "forecast/expectations.hpp"

#include <catch2/catch.hpp>

#include "core/state/job_kind.hpp"

namespace tidepool::forecast {
namespace {

core::Job job_of(const char* command, core::ResizeMode resize = core::ResizeMode::kLive) {
  core::Job job;
  job.id = JobId(100);
  core::RunSpec run;
  run.command = {command};
  job.spec.run = run;
  job.spec.resize = resize;
  return job;
}

// It has ended and left the state.
void add_ended(core::ClusterState& state, std::uint64_t id, const core::Job& like, const core::EndedCosts& costs) {
  core::EndedJob ended;
  ended.id = JobId(id);
  ended.kind = core::kind_of(like.spec);
  ended.costs = costs;
  state.ended[ended.id] = std::make_shared<const core::EndedJob>(ended);
}

TEST_CASE("a boot takes what those of jobs took that have ended, of the same program if there are any") {
  const core::Job small = job_of("small");
  const core::Job large = job_of("large");
  core::ClusterState state;
  CHECK(Expectations(state).boot(small) == Duration::seconds(3));
  add_ended(state, 1, large, {.boot_ms = 20'000});
  CHECK(Expectations(state).boot(small) == Duration::seconds(20));
  add_ended(state, 2, small, {.boot_ms = 100});
  add_ended(state, 3, small, {.start_ms = 40});  // measured no boot
  CHECK(Expectations(state).boot(small) == Duration::millis(100));
  CHECK(Expectations(state).boot(large) == Duration::seconds(20));
  CHECK(Expectations(state).stall(small) == Duration::millis(40));
}

TEST_CASE("boots of long ago count for less than new ones") {
  const core::Job job = job_of("small");
  core::ClusterState state;
  for (std::uint64_t id = 1; id <= 1'000; ++id) add_ended(state, id, job, {.boot_ms = 20'000});
  for (std::uint64_t id = 1'001; id <= 1'200; ++id) add_ended(state, id, job, {.boot_ms = 100});
  CHECK(Expectations(state).boot(job) < Duration::millis(200));
}

TEST_CASE("a start of a job whose programs are restarted stops none, so it takes what starts take") {
  core::Job job = job_of("small", core::ResizeMode::kRestart);
  core::ClusterState state;
  CHECK(Expectations(state).restart_stall(job) == Duration::seconds(1));
  add_ended(state, 1, job, {.start_ms = 200, .restart_ms = 8'000});
  CHECK(Expectations(state).restart_stall(job) == Duration::millis(200));
  job.membership.commit.from_size = 2;
  CHECK(Expectations(state).restart_stall(job) == Duration::seconds(8));
  CHECK(Expectations(core::ClusterState()).restart_stall(job) == Duration::seconds(30));
}

}  // namespace
}  // namespace tidepool::forecast
