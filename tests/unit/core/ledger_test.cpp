// What the slots of a job were held for: useful steps, or an overhead.
#include <catch2/catch.hpp>

#include <vector>

#include "base/accrual.hpp"
#include "core/state/account.hpp"
#include "core/state/ledger.hpp"
#include "core/state/measured/change_costs.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::Overhead;

// As of now.
core::Account account_of(const Story& story, JobId id) {
  core::Job job = story.job(id);
  core::charge(story.state(), job, story.now());
  return job.account;
}
Duration booked(const Story& story, JobId id, Overhead overhead) {
  return account_of(story, id).overheads[overhead].slot_time;
}
Duration useful(const Story& story, JobId id) {
  return core::useful_of(account_of(story, id)).slot_time;
}

// A dollar an hour for each slot.
Money cost_of(Duration slot_time) {
  return Money::micros(slot_time.count_us() / 3'600);
}

}  // namespace

TEST_CASE("workers that boot are an overhead until they step, and members that step are useful") {
  Story story;
  story.node(3);
  const JobId id = story.submit({.min = 2, .max = 3, .preferred = 2});
  story.wish(id, 2);
  story.decide();
  story.pass(Duration::seconds(10));
  story.settle(id);
  const Duration boot = booked(story, id, Overhead::kBootAndResize);
  CHECK(boot == Duration::seconds(20));
  story.pass(Duration::seconds(60));
  const Duration before = useful(story, id);
  CHECK(before >= Duration::seconds(120));
  // A third worker boots beside the two, which step on.
  story.learn(core::JobResizeRequested{id, 3});
  story.decide();
  story.pass(Duration::seconds(7));
  CHECK(booked(story, id, Overhead::kBootAndResize) == boot + Duration::seconds(7));
  CHECK(useful(story, id) == before + Duration::seconds(14));
  for (const WorkerId worker : story.job(id).membership.workers) {
    if (story.worker(worker).phase == core::WorkerPhase::kStarting) story.ready(worker);
  }
  story.decide();
  story.switched(id, 500);  // of which the two have lost half a second each
  CHECK(booked(story, id, Overhead::kBootAndResize) == boot + Duration::seconds(8));
  CHECK(useful(story, id) == before + Duration::seconds(13));
  const core::Account account = account_of(story, id);
  CHECK(account.overheads[Overhead::kBootAndResize].cost <= cost_of(boot + Duration::seconds(8)));
  CHECK(account.overheads[Overhead::kBootAndResize].cost >= cost_of(boot + Duration::seconds(8)) - Money::micros(2));
}

TEST_CASE("steps since the last saved state are lost to the failure after which they are done again") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.steps(id, 100);
  const WorkerId writer = story.job(id).membership.members.front();
  story.learn(
      core::CheckpointTaken{id, writer, story.job(id).membership.generation, story.job(id).progress.step, 10, 1});
  const Duration kept = useful(story, id);
  story.steps(id, 200);
  CHECK(useful(story, id) == kept + Duration::seconds(40));
  for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.exit(worker, 1);
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.ready(worker);
  story.decide();
  story.learn(
      core::StateRestored{id, story.job(id).membership.generation, story.job(id).recovery.checkpoint->step, 10});
  CHECK(booked(story, id, Overhead::kLostToPreemption) == Duration());
  CHECK(booked(story, id, Overhead::kLostToFailure) >= Duration::seconds(40));
  CHECK(useful(story, id) >= kept);
}

TEST_CASE("steps are lost to preemption where the job gave up its slots before it had saved them") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.steps(id, 100);
  story.learn(core::JobSuspendRequested{id});
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.exit(worker);
  story.decide();
  story.learn(core::JobResumeRequested{id});
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.ready(worker);
  story.decide();
  story.learn(core::GenerationSwitched{id, story.job(id).membership.generation, 1, 0, 0, 0, 0, 0});
  CHECK(story.job(id).progress.step == 0);
  CHECK(booked(story, id, Overhead::kLostToFailure) == Duration());
  CHECK(booked(story, id, Overhead::kLostToPreemption) ==
        Duration::millis(20'400));  // 102 steps of 100 ms on two slots
  CHECK(useful(story, id) == Duration());
}

TEST_CASE("a job that lost steps to preemption may save too late until it has saved its state on giving up its slots") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  const auto members_exit = [&] {
    for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.exit(worker);
    story.decide();
  };
  const auto resume_at = [&](std::int64_t step) {
    story.learn(core::JobResumeRequested{id});
    story.decide();
    for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.ready(worker);
    story.decide();
    const auto generation = story.job(id).membership.generation;
    if (step > 0) story.learn(core::StateRestored{id, generation, step, 10});
    story.learn(core::GenerationSwitched{id, generation, step + 1});
    story.steps(id, 100);
  };
  story.steps(id, 100);
  CHECK(core::work_at_risk(story.job(id)) == Duration());
  story.learn(core::JobSuspendRequested{id});
  story.decide();
  members_exit();
  resume_at(0);
  CHECK(core::work_at_risk(story.job(id)) > Duration());
  const std::int64_t step = story.job(id).progress.step;
  const WorkerId writer = story.job(id).membership.members.front();
  story.learn(core::JobSuspendRequested{id});
  story.decide();
  story.learn(core::StateParked{id, writer, story.job(id).membership.generation, step, 4096, 2.5});
  members_exit();
  resume_at(step);
  CHECK(story.job(id).progress.step == step + 100);
  CHECK(booked(story, id, Overhead::kLostToPreemption) > Duration());
  CHECK(core::work_at_risk(story.job(id)) == Duration());
}

TEST_CASE("a job that is found stuck was idle since its last step") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.steps(id, 10);
  const Duration before = useful(story, id);
  story.pass(Duration::seconds(90));
  story.learn(core::WorkerStuck{story.job(id).membership.members.front(), 12, "computing", Duration::seconds(90)});
  CHECK(booked(story, id, Overhead::kIdle) == Duration::seconds(180));
  CHECK(useful(story, id) == before);
}

TEST_CASE("members that wait for a straggler are an overhead, and for the usual differences are not") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.steps(id, 100, {50'000, 51'000});
  CHECK(booked(story, id, Overhead::kStragglers) == Duration());
  story.steps(id, 100, {50'000, 90'000});
  const Duration waited = booked(story, id, Overhead::kStragglers);
  CHECK(waited > Duration::seconds(3));  // nearly all of 100 steps, of 40 ms each
  CHECK(waited <= Duration::seconds(4));
}

TEST_CASE("what is lost leaves room for the millionth of which boots have begun a part") {
  core::Job job;
  job.progress.step = 10;
  // Boots came to 0.6 millionths and steps to 10.4: together to 11, and boots alone, rounded down, to none.
  job.account.slot_time = Duration::seconds(11);
  job.account.cost = Money::micros(11);
  job.account.boot_remainder = kUsPerHour * 6 / 10;
  core::book_lost_steps(job, 0);
  CHECK(core::useful_of(job.account).cost == Money::micros(1));
  // Boots go on until they come to a millionth.
  job.account.cost_remainder = kUsPerHour * 4 / 10;
  job.account.boot_remainder = 0;
  job.account.overheads[Overhead::kBootAndResize].cost = Money::micros(1);
  CHECK(core::useful_of(job.account).cost == Money());
}

TEST_CASE("a report can take no more from what was useful than there was") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.learn(core::WorkerStuck{story.job(id).membership.members.front(), 1, "waiting", Duration::seconds(1'000'000)});
  CHECK(useful(story, id) == Duration());
  const core::Account account = account_of(story, id);
  CHECK(account.overheads.total() == core::Used{account.slot_time, account.cost});
}

TEST_CASE("a wait that is longer than the job is old takes no more than there was, however long it is told to be") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  story.steps(id, 10);
  REQUIRE(useful(story, id) > Duration());
  // Twice as many microseconds are more than a number of 64 bits holds.
  story.learn(
      core::WorkerStuck{story.job(id).membership.members.front(), 1, "waiting", Duration::seconds(5'000'000'000'000)});
  CHECK(useful(story, id) == Duration());
  const core::Account account = account_of(story, id);
  CHECK(account.overheads[Overhead::kIdle].slot_time > Duration());
  CHECK(account.overheads.total() == core::Used{account.slot_time, account.cost});
}

}  // namespace tidepool::test
