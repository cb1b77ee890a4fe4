// How running jobs change: sizes, losses, stragglers.
#include "core/explain/explain.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

TEST_CASE("Growing starts joining workers first and switches when all are ready") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  story.wish(job, 3);
  story.steps(job, 1);
  CHECK(names_of(story.decide()) == "grow");
  CHECK(story.job(job).state() == JobState::kResizing);
  CHECK(story.job(job).size() == 1);
  story.steps(job, 5);
  CHECK(names_of(story.decide()).empty());
  story.ready(WorkerId(3));
  CHECK(names_of(story.decide()).empty());
  story.ready(WorkerId(2));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "switch");
  CHECK(std::get<core::SwitchIntent>(decision.plan[0].intent).members ==
        std::vector{WorkerId(1), WorkerId(2), WorkerId(3)});
  story.switched(job, 40);
  CHECK(story.last("job.resized").data == nlohmann::json({{"from", 1}, {"to", 3}}));
  CHECK(story.last("generation.switched").data["reason"]["code"] == "ExploreUp");
  CHECK(story.job(job).measurements.grow_cost.mean_stall_ms == 40);
  CHECK(story.job(job).state() == JobState::kRunning);
}

TEST_CASE("Shrinking switches at once and stops a leaving worker that stays beyond its grace") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}, .grace = Duration::seconds(9)}, 3);
  story.wish(job, 1);
  story.steps(job, 1);
  CHECK(names_of(story.decide()) == "shrink switch");
  CHECK(story.job(job).membership.members == std::vector{WorkerId(1)});
  CHECK(story.state().slots_free() == 1);
  story.switched(job);
  story.decide();
  story.exit(WorkerId(3));
  CHECK(story.state().slots_free() == 2);
  CHECK(story.job(job).recovery.restarts == 0);
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(9));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == WorkerId(2));
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == Duration());
}

TEST_CASE("Between two changes of size lies the cooldown, and its end is due") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  story.settle(job);
  REQUIRE(story.job(job).size() == 2);
  story.wish(job, 3);
  story.steps(job, 1);
  const auto held = story.decide();
  CHECK(names_of(held).empty());
  CHECK(test::says<core::reason::Cooldown>(held.verdicts.at(0).reason));
  const Instant due = story.engine().next_due().value();
  CHECK(due == *story.job(job).last_resize_at + Duration::seconds(20));
  story.pass(due - story.now());
  CHECK(names_of(story.decide()) == "grow");
}

TEST_CASE("A policy cannot shrink a job within its minimum run time, its user can") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}, .min_runtime = Duration::seconds(100)}, 3);
  story.wish(job, 2);
  story.steps(job, 1);
  CHECK(test::says<core::reason::MinRuntime>(story.decide().verdicts.at(0).reason));
  story.learn(core::JobResizeRequested{job, 2});
  const auto decision = story.decide();
  CHECK(names_of(decision) == "shrink switch");
  CHECK(test::says<core::reason::ResizedByUser>(decision.plan[0].reason));
}

TEST_CASE("Training that ends before a committed switch leaves its joining workers nothing to wait for") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  REQUIRE(names_of(story.decide()) == "grow");
  story.ready(WorkerId(2));
  REQUIRE(names_of(story.decide()) == "switch");
  story.learn(core::TrainingFinished{job, 40, 1.25});
  const auto decision = story.decide();  // at once, while the member may take its grace
  CHECK(names_of(decision) == "stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == WorkerId(2));
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.job(job).state() == JobState::kSucceeded);
}

TEST_CASE("A pinned size wins over the policy until it is cleared") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  story.learn(core::JobResizeRequested{job, 2});
  story.settle(job);
  CHECK(story.job(job).size() == 2);
  CHECK(test::says<core::reason::PinnedByUser>(story.job(job).verdict.reason));
  story.learn(core::JobResizeRequested{job, 0});
  story.settle(job);
  CHECK(story.job(job).size() == 1);
}

TEST_CASE("A job grows as far as the free slots reach and says what is missing") {
  Story story;
  story.node(3);
  const JobId job = story.running({.max = 8, .sizes = {1, 2, 4, 8}, .cooldown = {}}, 1);
  story.wish(job, 8);
  story.steps(job, 1);
  story.settle(job);
  CHECK(story.job(job).size() == 2);
  CHECK(test::says<core::reason::NoSlotsToGrow>(story.job(job).verdict.reason));
  story.node(2);
  story.settle(job);
  CHECK(story.job(job).size() == 4);
}

TEST_CASE("Jobs in the queue come before jobs that grow") {
  Story story;
  story.node(3);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.submit({.min = 2, .max = 2});
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  CHECK(story.job(job).size() == 2);
  CHECK(test::says<core::reason::NoSlotsToGrow>(story.job(job).verdict.reason));
  story.learn(core::JobCancelRequested{JobId(2)});
  CHECK(names_of(story.decide()) == "end_job grow");
}

TEST_CASE("Price cap and batch bound the size") {
  Story story;
  story.node(8);
  const JobId capped = story.running({.max = 8, .cooldown = {}, .price_cap = Money::micros(2'500'000)}, 1);
  story.wish(capped, 8);
  story.steps(capped, 1);
  story.settle(capped);
  CHECK(story.job(capped).size() == 2);
  CHECK(test::says<core::reason::PriceCap>(story.job(capped).verdict.reason));
  const JobId tiny = story.running({.max = 4, .batch = 2, .cooldown = {}}, 2);
  story.wish(tiny, 4);
  story.steps(tiny, 1);
  story.decide();
  CHECK(test::says<core::reason::BatchTooSmall>(story.job(tiny).verdict.reason));
}

TEST_CASE("A dead member is left behind at once and the cooldown does not hold back growing back") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 3);
  story.exit(WorkerId(2), -1, "out of memory");
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "switch");
  const auto& next = std::get<core::SwitchIntent>(decision.plan[0].intent);
  CHECK(next.after_failure);
  CHECK(next.members == std::vector{WorkerId(1), WorkerId(3)});
  CHECK(story.last("worker.lost").data["detail"] == "out of memory");
  CHECK(story.last("worker.lost").node == NodeId(1));
  CHECK(story.job(job).recovery.restarts == 1);
  story.switched(job, 300);
  CHECK(story.job(job).measurements.failure_cost.count == 1);
  CHECK(names_of(story.decide()) == "grow");
}

TEST_CASE("With fewer survivors than its minimum a job goes back to the queue") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  story.exit(WorkerId(1), 1);
  const auto decision = story.decide();
  CHECK(names_of(decision) == "preempt");
  CHECK(test::says<core::reason::BelowMinimum>(decision.plan[0].reason));
  CHECK(std::get<core::PreemptIntent>(decision.plan[0].intent).after_failure);
  story.exit(WorkerId(2), 0);
  CHECK(story.job(job).state() == JobState::kPending);
  CHECK(names_of(story.decide()) == "start");
  CHECK(story.job(job).recovery.restarts == 1);
}

TEST_CASE("Members that are lost before the job has stepped on are one loss, whatever is decided between them") {
  for (const bool decides : {false, true}) {
    Story story;
    story.node(4);
    const JobId job = story.running({.max = 4, .max_restarts = 1, .cooldown = {}}, 4);
    for (const WorkerId member : std::vector<WorkerId>(story.job(job).membership.members)) {
      story.exit(member, 1, "storage is away");
      CHECK(story.job(job).recovery.restarts == 1);
      if (decides) story.decide();
    }
    if (!decides) CHECK(names_of(story.decide()) == "start");
    REQUIRE(story.job(job).state() == JobState::kStarting);
    story.settle(job);
    REQUIRE(story.job(job).state() == JobState::kRunning);
    story.exit(story.job(job).membership.members.front(), 1, "storage is away");
    CHECK(story.job(job).recovery.restarts == 2);
  }
}

TEST_CASE("Workers of one start that are lost before it has a generation are one loss, those of the next another") {
  Story story;
  story.node(4);
  const JobId job = story.submit({.max = 4, .preferred = 3, .max_restarts = 1, .cooldown = {}});
  for (const int lost : {1, 2}) {
    story.pass(Duration::seconds(1));
    story.wish(job, 3);
    REQUIRE(names_of(story.decide()) == "start");
    REQUIRE(story.job(job).membership.workers.size() == 3);
    for (const WorkerId booting : std::vector<WorkerId>(story.job(job).membership.workers)) {
      story.exit(booting, 1, "cannot read the folder");
      CHECK(story.job(job).recovery.restarts == lost);
    }
  }
  story.decide();
  CHECK(story.job(job).state() == JobState::kFailed);
}

TEST_CASE("A joining worker that is lost is a loss of its own, also where another joining one has been lost") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  for (const int lost : {1, 2}) {
    story.wish(job, 2);
    story.steps(job, 1);
    REQUIRE(names_of(story.decide()) == "grow");
    story.exit(story.job(job).membership.workers.back(), 1);
    CHECK(story.job(job).recovery.restarts == lost);
  }
}

TEST_CASE("A job that loses workers too often fails with the newest error") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2, .max_restarts = 1, .cooldown = {}}, 2);
  story.exit(WorkerId(2), 1, "first");
  story.settle(job);
  story.exit(story.job(job).membership.members.back(), 1, "second");
  CHECK(names_of(story.decide()) == "stop_worker");
  story.exit(story.job(job).membership.workers.front(), -1);
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.job(job).state() == JobState::kFailed);
  CHECK(story.last("job.finished").data["error"].get<std::string>().find("second") != std::string::npos);
}

TEST_CASE("A job whose program fails after the same step each time is told so") {
  for (const std::int64_t second : {2, 3}) {
    Story story;
    story.node(1);
    const JobId job = story.running({.max = 1, .max_restarts = 1, .cooldown = {}}, 1);
    REQUIRE(story.job(job).progress.step == 2);
    story.exit(story.job(job).membership.members.front(), 1, "division by zero");
    story.decide();
    const WorkerId again = story.job(job).membership.workers.front();
    story.ready(again);
    story.decide();
    story.learn(core::GenerationSwitched{job, story.job(job).membership.generation, 1, 12, 3, 0, 0, 1000});
    story.steps(job, second);
    story.exit(again, 1, "division by zero");
    story.decide();
    REQUIRE(story.job(job).state() == JobState::kFailed);
    const std::string text = story.last("job.finished").data["reason"]["text"];
    const std::string alike = second == 2 ? "; each time after step 2" : "";
    CHECK(text == "failed: it lost workers 2 times, and 1 are allowed" + alike);
  }
}

TEST_CASE("Wrong settings fail the job at once, with the worker's own words") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide();
  story.exit(WorkerId(1), 2, "README.txt does not exist");
  CHECK(names_of(story.decide()) == "stop_worker");
  story.exit(WorkerId(2), 2, "README.txt does not exist");
  story.decide();
  CHECK(story.job(job).state() == JobState::kFailed);
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(test::says<core::reason::WorkersFailed>(story.job(job).verdict.reason));
  CHECK(story.last("job.finished").data["error"] == "w-1 exited with code 2: README.txt does not exist");
}

TEST_CASE("A member that says before its job's first step that it cannot work fails the job at once") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide();
  for (const WorkerId id : {WorkerId(1), WorkerId(2)}) story.ready(id);
  CHECK(names_of(story.decide()) == "switch");
  core::WorkerExited exit{.worker = WorkerId(2), .exit_code = 2, .detail = "last output: no argument --data"};
  SECTION("exit code 2") {
    exit.never_stepped = true;
    story.learn(exit);
    CHECK(names_of(story.decide()) == "stop_worker");
    story.exit(WorkerId(1));
    story.decide();
    CHECK(story.job(job).state() == JobState::kFailed);
    CHECK(story.job(job).recovery.restarts == 1);
    CHECK(core::explain(story.state(), story.job(job)).summary ==
          "failed: its own settings are wrong: w-2 exited with code 2; last output: no argument --data; its "
          "output, if there is any: schedctl logs job-1");
    for (const auto& line : core::explain(story.state(), story.job(job)).evidence) {
      CHECK_FALSE(line.starts_with("lost workers"));
    }
  }
  SECTION("any other exit code is tried again") {
    exit.never_stepped = true;
    exit.exit_code = 1;
    story.learn(exit);
    CHECK_FALSE(story.job(job).recovery.misconfigured);
  }
  SECTION("as told by earlier versions") {
    story.learn(exit);
    CHECK_FALSE(story.job(job).recovery.misconfigured);
  }
}

TEST_CASE("A joining worker that dies is dropped and the others join") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  story.ready(WorkerId(2));
  story.exit(WorkerId(3), 1);
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "switch");
  CHECK(std::get<core::SwitchIntent>(decision.plan[0].intent).members == std::vector{WorkerId(1), WorkerId(2)});
}

TEST_CASE("When the only joining worker dies the job goes on as it was and waits for the cooldown") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  story.decide();
  story.exit(WorkerId(2), 1);
  CHECK(story.job(job).state() == JobState::kRunning);
  CHECK(test::says<core::reason::Cooldown>(story.decide().verdicts.at(0).reason));
}

TEST_CASE("A joining worker that is not ready in time is stopped and counts as lost") {
  Story story({.start_timeout = Duration::seconds(10)});
  story.node(4);
  const JobId job = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(10));
  story.pass(Duration::seconds(10));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(test::says<core::reason::StartTimeout>(decision.plan[0].reason));
  story.exit(WorkerId(1), -1);
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.job(job).recovery.last_error.find("was not ready within 10 s") != std::string::npos);
  CHECK(story.last("worker.lost").data["detail"] == story.job(job).recovery.last_error);
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("A program that is not ready in time is told that it may be of another kind, or need more time") {
  Story story({.start_timeout = Duration::seconds(10)});
  story.node(4);
  const JobId job = story.engine().next_job_id();
  core::JobSpec spec = job_spec({.max = 1});
  spec.run = core::RunSpec{.command = {"python3", "train.py"}};
  story.learn(core::JobSubmitted{job, spec});
  story.decide();
  story.pass(Duration::seconds(10));
  REQUIRE(names_of(story.decide()) == "stop_worker");
  story.exit(WorkerId(1), -1);
  CHECK(story.job(job).recovery.last_error ==
        "w-1 was not ready within 10 s; a program that does not use the tidepool package needs run.resize: restart, "
        "and one that takes longer to its first batch a longer engine.start_timeout of the daemon");
}

TEST_CASE("A straggler's replacement is started first and taken from another node") {
  Story story(core::EngineConfig{.rebalance_stragglers = false});
  story.node(2);
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2, .pack = true}, 2);
  story.steps(job, 40, {50'000, 120'000});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "replace");
  const auto& replace = std::get<core::ReplaceIntent>(decision.plan[0].intent);
  CHECK(replace.leaving_worker == WorkerId(2));
  CHECK(replace.joining_worker.node == NodeId(2));
  CHECK(story.last("worker.straggling").data["worker"] == "w-2");
  CHECK(story.last("worker.straggling").node == NodeId(1));
  CHECK(story.last("worker.started").node == NodeId(2));
  CHECK(story.job(job).size() == 2);
  story.ready(WorkerId(3));
  story.decide();
  CHECK(story.job(job).membership.members == std::vector{WorkerId(1), WorkerId(3)});
  story.switched(job);
  CHECK(story.last("worker.replaced").data == nlohmann::json({{"worker", "w-2"}, {"by", "w-3"}, {"straggler", true}}));
  CHECK(story.last("worker.replaced").node == NodeId(1));
}

TEST_CASE("A straggler without a spare slot is named once and replaced when a slot comes") {
  Story story(core::EngineConfig{.rebalance_stragglers = false});
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  story.steps(job, 40, {50'000, 120'000});
  story.decide();
  story.steps(job, 40, {50'000, 120'000});
  story.decide();
  CHECK(test::says<core::reason::StragglerNoSpare>(story.job(job).verdict.reason));
  CHECK(story.count("worker.straggling") == 1);
  story.node(1);
  CHECK(names_of(story.decide()) == "replace");
}

TEST_CASE("A worker that is slow for a few steps only is left alone") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  for (int hiccup = 0; hiccup < 10; ++hiccup) {
    story.steps(job, 6, {50'000, 120'000});
    CHECK(names_of(story.decide()).empty());
    story.steps(job, 6, {50'000, 50'000});
    CHECK(names_of(story.decide()).empty());
  }
  CHECK(story.count("worker.started") == 2);
}

TEST_CASE("Two changes never run at once") {
  Story story;
  story.node(8);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.wish(job, 4);
  story.steps(job, 1);
  story.decide();
  story.steps(job, 5, {50'000, 150'000});
  CHECK(names_of(story.decide()).empty());
}

TEST_CASE("A member that dies while joining workers boot is left behind, and the joining workers still join") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  story.exit(WorkerId(1), 1);
  CHECK(names_of(story.decide()) == "switch");
  story.ready(WorkerId(3));
  CHECK(names_of(story.decide()).empty());
  story.switched(job);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(job).membership.members == std::vector{WorkerId(2), WorkerId(3)});
}

}  // namespace
}  // namespace tidepool::test
