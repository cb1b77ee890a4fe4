// What a run says of jobs that did not complete, and that slow starts are no failures.
#include <catch2/catch.hpp>

#include "studies/run_outcome.hpp"
#include "studies/sim_run.hpp"

namespace tidepool::sim {
namespace {

SimReport run_of(const SimOptions& options) {
  auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  return *std::move(report);
}

SimOptions small() {
  return {.generated_jobs = 5, .cluster = "4x4"};
}

JobResult row_in(core::JobState state, bool started = true) {
  JobResult row{.name = "a", .state = state};
  if (started) row.started_s = 1;
  return row;
}

}  // namespace

TEST_CASE("workers that start more slowly than a daemon waits by default do start") {
  for (const std::int64_t minutes : {1, 2, 20, 600}) {
    SimOptions options = small();
    options.restart_penalty = Duration::seconds(minutes * 60);
    const SimReport report = run_of(options);
    INFO(minutes << " min");
    CHECK(report.score.completed == 5);
    CHECK(report.trouble.empty());
  }
}

TEST_CASE("a change of size that stalls a job for longer than a daemon waits by default does not end it") {
  SimOptions options = small();
  options.switch_stall = Duration::seconds(600);
  CHECK(run_of(options).score.completed == 5);
}

TEST_CASE("a run ends where its user says, and says how many jobs were left; that is no trouble") {
  SimOptions options = small();
  options.until = Duration::seconds(1'800);
  const SimReport report = run_of(options);
  CHECK(report.cut_off);
  CHECK(report.score.completed < 5);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Catch::Matchers::StartsWith(
                                  "under tidal the run was cut off 30 minutes after the first submission with "));
  CHECK(report.trouble.empty());
}

TEST_CASE("a job that holds slots when a run is cut off has held them until then, under every policy") {
  SimOptions options{.workload = "long", .cluster = "2x4"};
  options.workload_csv =
      "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa\n"
      "long,team,0,0,8,8,8,64,64000000000,100,0,0\n";
  options.until = Duration::seconds(3'600);
  for (const char* policy : {"tidal", "fifo"}) {
    CAPTURE(policy);
    options.policy = policy;
    const SimReport report = run_of(options);
    CHECK(report.cut_off);
    CHECK(report.score.makespan_s == Approx(3'600));
    CHECK(report.score.gpu_hours == Approx(8).epsilon(0.02));
    CHECK(report.score.utilization == Approx(1).epsilon(0.02));
  }
}

TEST_CASE("a run that is cut off with jobs left, or that completes no job, cannot be judged") {
  const auto left = row_in(core::JobState::kRunning);
  const auto waits = row_in(core::JobState::kPending, false);
  const auto done = row_in(core::JobState::kSucceeded);
  const std::vector<JobResult> rows{done, left, waits};
  const Outcome cut =
      outcome_of({.rows = rows, .policy = "p", .cut_off = true, .until = Duration::seconds(90 * 86'400)});
  CHECK(cut.notes ==
        std::vector<std::string>{"under p the run was cut off 90 days after the first submission with 2 of "
                                 "3 jobs left, 1 of which never ran; times are of those that completed"});
  CHECK(cut.trouble == "the run under p was cut off with jobs left; --until sets how long it may last");

  const std::vector<JobResult> none{waits};
  const Outcome stuck = outcome_of({.rows = none, .policy = "p", .cut_off = false, .until = {}});
  CHECK(stuck.notes ==
        std::vector<std::string>{"under p 1 of 1 job was left when nothing more could run, 1 of which never ran"});
  CHECK(stuck.trouble == "no job completed under p");

  const std::vector<JobResult> sound{done};
  const Outcome fine = outcome_of({.rows = sound, .policy = "p", .cut_off = false, .until = {}});
  CHECK(fine.notes.empty());
  CHECK(fine.trouble.empty());
}

TEST_CASE("a job that failed is told with how its last worker was lost") {
  JobResult failed = row_in(core::JobState::kFailed);
  failed.failure = "was not ready within 2m";
  const std::vector<JobResult> rows{failed, row_in(core::JobState::kSucceeded)};
  const Outcome outcome = outcome_of({.rows = rows, .policy = "p", .cut_off = false, .until = {}});
  CHECK(outcome.notes == std::vector<std::string>{"under p 1 of 2 jobs failed; the first, a: was not ready within 2m"});
  CHECK(outcome.trouble.empty());
}

}  // namespace tidepool::sim
