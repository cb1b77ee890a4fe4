// The sizes of a forecast beside its times.
#include "forecast/forecast_report.hpp"

#include <catch2/catch.hpp>

namespace tidepool::forecast {
namespace {

Instant minute(std::int64_t n) {
  return Instant() + Duration::seconds(60 * n);
}

Expected around(std::int64_t n) {
  Expected expected;
  expected.at = expected.early = expected.late = minute(n);
  return expected;
}

using Sizes = std::vector<SizeFrom>;

TEST_CASE("sizes begin and end when the job is told to") {
  const Sizes made{{minute(0), 0}, {minute(10), 2}, {minute(20), 4}, {minute(30), 0}};
  JobReport told;
  told.basis = Basis::kDeclared;
  told.start = around(13);
  told.end = around(41);
  CHECK(reported_sizes(told, made) == Sizes{{minute(0), 0}, {minute(13), 2}, {minute(23), 4}, {minute(41), 0}});
  told.end = around(22);
  CHECK(reported_sizes(told, made) == Sizes{{minute(0), 0}, {minute(13), 2}, {minute(22), 4}, {minute(22), 0}});
}

TEST_CASE("an end that is not known has no row, and what a job has now does not move") {
  const Sizes made{{minute(0), 2}, {minute(20), 4}, {minute(30), 0}};
  JobReport told;
  told.basis = Basis::kUnknown;
  CHECK(reported_sizes(told, made) == Sizes{{minute(0), 2}, {minute(20), 4}});
  told.basis = Basis::kDeclared;  // that releases its slots, and ends later than can be seen
  CHECK(reported_sizes(told, made) == made);
}

// What was observed: ends come in half the time, starts when they are told to.
Calibration ends_in_half_the_time() {
  core::ClusterState state;
  Calibration calibration;
  for (std::uint64_t n = 1; n <= 20; ++n) {
    core::Job job;
    job.id = JobId(n);
    job.started_at = Instant();
    state.jobs[job.id] = std::make_shared<const core::Job>(job);
    state.next_job = n + 1;
    Forecast said{.at = minute(100 * static_cast<std::int64_t>(n))};
    said.jobs[job.id] = {.basis = Basis::kKin, .end = said.at + Duration::seconds(2'400)};
    calibration.remember(state, said);
    auto ended = std::make_shared<core::EndedJob>();
    ended->id = job.id;
    ended->finished_at = said.at + Duration::seconds(1'200);
    state.jobs.erase(job.id);
    state.ended.emplace(job.id, ended);
    calibration.learn(state, ended->finished_at);
  }
  return calibration;
}

TEST_CASE("a short job whose end is set right more than its start still runs for a while") {
  core::Job job;
  job.id = JobId(1);
  core::ClusterState state;
  state.jobs[job.id] = std::make_shared<const core::Job>(job);
  Forecast made;
  made.at = minute(0);
  made.until = minute(60);
  made.jobs[job.id] = {.basis = Basis::kKin,
                       .start = minute(40),
                       .end = minute(45),
                       .sizes = {{minute(0), 0}, {minute(40), 2}, {minute(45), 0}}};
  const Calibration calibration = ends_in_half_the_time();
  REQUIRE(calibration.expect(Moment::kEnd, Basis::kKin, minute(0), minute(45)).at <
          calibration.expect(Moment::kStart, Basis::kDeclared, minute(0), minute(40)).at);
  const JobReport told = tell(state, made, calibration).jobs.at(job.id);
  CHECK(told.end->at > told.start->at + Duration::seconds(60));
  CHECK(told.end->at < told.start->at + Duration::seconds(300));
  CHECK(told.end->at <= told.end->late);
  REQUIRE(told.sizes.size() == 3);
  CHECK(told.sizes[1].at == told.start->at);
  CHECK(told.sizes[2].at == told.end->at);
}

TEST_CASE("a forecast that is told has its sizes as they are told") {
  core::Job job;
  job.id = JobId(1);
  core::ClusterState state;
  state.jobs[job.id] = std::make_shared<const core::Job>(job);
  Forecast made;
  made.until = minute(60);
  made.jobs[job.id] = {.basis = Basis::kUnknown, .end = minute(30), .sizes = {{minute(0), 2}, {minute(30), 0}}};
  CHECK(tell(state, made, {}).jobs.at(job.id).sizes == Sizes{{minute(0), 2}});
}

}  // namespace
}  // namespace tidepool::forecast
