// How much a job still has to do, and how near its end is.
#include "core/state/measured/job_work.hpp"

#include "core/facts/throughput.hpp"
#include "core/state/measured/change_costs.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

// Ten samples a step, a step every 100 ms, of which so many have been done.
core::Job job_with(std::int64_t steps) {
  core::Job job{.id = JobId(1), .phase = core::phase::Running{}};
  job.membership.members = {WorkerId(1)};
  job.membership.switched = true;
  job.spec.batch.global = 10;
  job.progress.step = steps;
  job.progress.samples = steps * 10;
  job.progress.reported_at = Instant::from_micros(1'000'000);
  job.measurements.sizes[1] = {.steps = steps, .step_seconds = 0.1, .samples_per_second = 100};
  job.measurements.boot_cost = {.count = 1, .mean_ms = 2'000};
  job.measurements.shrink_cost = {.count = 1, .mean_stall_ms = 500};
  return job;
}

Instant after_start(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

TEST_CASE("what the job file declares goes before what the program tells, and neither is unknown") {
  core::Job job = job_with(30);
  CHECK_FALSE(core::samples_left(job).has_value());
  job.progress.length.samples = 1'000;
  CHECK(core::samples_left(job) == 700);
  job.spec.work_samples = 500;
  CHECK(core::samples_left(job) == 200);
  job.spec.work_samples = 100;  // it has done more
  CHECK(core::samples_left(job) == 0);
}

TEST_CASE("a length in steps is what is left of it at the newest batch") {
  core::Job job = job_with(30);
  job.progress.length.steps = 100;
  CHECK(core::samples_left(job) == 700);
  job.progress.global_batch = 40;  // since the job was resized
  CHECK(core::samples_left(job) == 2'800);
}

TEST_CASE("a job ends soon when its end is nearer than its next start would be, until it is late by as much") {
  core::Job job = job_with(80);
  job.progress.length.steps = 100;  // 2 s from the report at 1 s; giving up costs 2.5 s
  CHECK(core::resume_cost(job) == Duration::millis(2'500));
  CHECK(core::expected_end(job) == after_start(3));
  CHECK(core::ends_soon(job, after_start(1)));
  CHECK(core::ends_soon(job, after_start(5.4)));
  CHECK_FALSE(core::ends_soon(job, after_start(5.6)));
  CHECK(core::overdue_at(job) == after_start(5.5));
  job.progress.step = 70;
  CHECK_FALSE(core::ends_soon(job, after_start(1)));
  CHECK(core::ends_soon(job, after_start(1.5)));
  job.membership.switched = false;
  CHECK_FALSE(core::ends_soon(job, after_start(1.5)));
}

TEST_CASE(
    "what a job has not saved counts where it may not save in time, and is a risk only beyond what all may lose") {
  core::Job job = job_with(50'000);              // 5,000 s
  CHECK(core::work_at_risk(job) == Duration());  // it saves when it is told to leave
  CHECK_FALSE(core::loses_work(job));
  const Duration saves = core::resume_cost(job);
  job.account.overheads[core::Overhead::kLostToPreemption].slot_time = Duration::seconds(1);
  CHECK(core::work_at_risk(job) == Duration::seconds(3'600));
  CHECK(core::loses_work(job));
  job.account.saved.step = 40'000;
  CHECK(core::work_at_risk(job) == Duration::seconds(1'000));
  CHECK(core::resume_cost(job) == saves + Duration::seconds(1'000));
  CHECK(core::loses_work(job));
  // Those that saved ten minutes ago and a second ago are alike.
  for (const std::int64_t step : {44'000, 49'990}) {
    job.account.saved.step = step;
    CHECK_FALSE(core::loses_work(job));
  }
  job.account.overheads = {};
  job.account.saved.step = 0;
  job.recovery.checkpoint_failure = core::CheckpointFailure{};
  CHECK(core::loses_work(job));
}

TEST_CASE("a program that is started anew and names no checkpoints loses what it has done since it started") {
  core::Job job = job_with(100);
  job.spec.resize = core::ResizeMode::kRestart;
  job.membership.commit.at = after_start(0.25);
  CHECK(core::work_at_risk(job) == Duration::millis(750));
  CHECK(core::loses_work(job));
  job.progress.reported_at.reset();
  CHECK(core::work_at_risk(job) == Duration());
  CHECK(core::loses_work(job));
  job.spec.checkpoint.dir = "states";
  CHECK_FALSE(core::loses_work(job));
}

TEST_CASE("the first workers of a job tell its length, and a length that is none is refused") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.max = 2});
  story.decide();
  const WorkerId worker = story.job(job).membership.workers.front();
  CHECK(story.refuses(core::WorkerReady{worker, 0}).find("at least 1") != std::string::npos);
  CHECK(story.refuses(core::WorkerReady{worker, 5, 5}).find("either steps or samples") != std::string::npos);
  story.learn(core::WorkerReady{worker, 300});
  CHECK(story.job(job).progress.length.steps == 300);
  CHECK_FALSE(story.job(job).progress.length.samples.has_value());
}

TEST_CASE("a program that goes on beyond the end it told of is spared for it once, until its next switch") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.max = 2, .batch = 64, .cooldown = {}});
  story.decide();
  story.pass(Duration::seconds(2));  // what a start takes
  story.learn(core::WorkerReady{story.job(job).membership.workers.front(), 30});
  story.decide();
  story.switched(job);
  story.steps(job, 28);
  CHECK(core::ends_soon(story.job(job), story.now()));
  for (int i = 0; i < 5; ++i) story.steps(job, 10);  // a start and a stall take 4 s
  CHECK(core::expected_end(story.job(job)) == story.now());
  CHECK_FALSE(core::ends_soon(story.job(job), story.now()));
  CHECK(*core::overdue_at(story.job(job)) < story.now());

  story.wish(2);
  story.settle(job);
  CHECK(core::ends_soon(story.job(job), story.now()));
}

TEST_CASE("two sizes are measured side by side when a job goes from one to the other") {
  core::Job job = job_with(100);
  job.spec.elastic.cooldown = Duration::seconds(2);
  job.spec.scaling.every_steps = 20;
  job.membership.members = {WorkerId(1), WorkerId(2)};
  job.membership.commit.from_size = 1;
  job.last_resize_at = after_start(10);
  const auto report = [&](double at, std::int64_t steps, std::int64_t counted, double seconds) {
    const core::StepsMeasured fact{
        .job = job.id, .steps = steps, .elapsed = Duration::from_seconds(seconds), .samples = steps * 10};
    job.measurements.steps_since_switch += counted;
    core::add_measurement(job.measurements.sizes[2], fact, counted, after_start(at));
    core::add_to_size_change(job, fact, counted, after_start(at));
  };
  report(11, 10, 9, 1);  // it paid for the change
  report(12, 20, 20, 1);
  report(13, 40, 40, 1);  // the cooldown is over and enough was measured: the last that counts would be before
  const core::SizeChange& change = job.measurements.sizes.at(2).entered;
  CHECK(change.from == 1);
  CHECK(change.from_rate == 100);
  CHECK(change.rate == Approx(200));
  CHECK(change.at == after_start(10));
}

}  // namespace
}  // namespace tidepool::test
