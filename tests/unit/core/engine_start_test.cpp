// How jobs start, wait and end.
#include "core/decide/start_job.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

TEST_CASE("A job that fits starts with its preferred size, all workers at once") {
  Story story;
  story.node(4);
  const JobId job = story.submit({.min = 1, .max = 4, .preferred = 2});
  CHECK(names_of(story.decide()) == "start");
  CHECK(story.job(job).state() == JobState::kStarting);
  CHECK(story.state().slots_free() == 2);
  story.ready(WorkerId(1));
  CHECK(names_of(story.decide()).empty());
  story.ready(WorkerId(2));
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(job).membership.members == std::vector{WorkerId(1), WorkerId(2)});
  story.switched(job);
  CHECK(story.job(job).state() == JobState::kRunning);
  CHECK(story.count("job.started") == 0);
  story.steps(job, 1);
  CHECK(story.last("job.started").data["size"] == 2);
}

TEST_CASE("A gang that does not fit whole holds no slot") {
  Story story;
  story.node(3);
  const JobId job = story.submit({.min = 4, .max = 4});
  CHECK(test::says<core::reason::NeverFits>(story.decide().verdicts.at(0).reason));
  CHECK(story.state().slots_free() == 3);
  story.node(1);
  CHECK(names_of(story.decide()) == "start");
  CHECK(story.job(job).membership.workers.size() == 4);
}

TEST_CASE("A worker's slots lie on one node") {
  Story story;
  story.node(3);
  story.node(3);
  const JobId job = story.submit({.min = 3, .max = 3, .gpus = 2});
  CHECK(test::says<core::reason::NeverFits>(story.decide().verdicts.at(0).reason));
  story.node(2);
  story.decide();
  for (const WorkerId id : story.job(job).membership.workers) CHECK(story.worker(id).slots.size() == 2);
}

TEST_CASE("A packed job takes the fewest nodes, another fills the smallest holes") {
  Story story;
  story.node(2);
  story.node(4);
  story.node(2);
  const JobId packed = story.submit({.min = 4, .max = 4, .pack = true});
  story.decide();
  for (const WorkerId id : story.job(packed).membership.workers) CHECK(story.worker(id).node == NodeId(2));
  const JobId scattered = story.submit({.min = 3, .max = 3});
  story.decide();
  CHECK(story.worker(story.job(scattered).membership.workers.back()).node == NodeId(3));
}

TEST_CASE("Cordoned and lost nodes get no work") {
  Story story;
  const NodeId cordoned = story.node(2);
  const NodeId lost = story.node(2);
  story.learn(core::NodeCordonChanged{cordoned, true});
  story.learn(core::NodeLost{lost, "no heartbeat"});
  const JobId job = story.submit();
  story.decide();
  CHECK(story.job(job).state() == JobState::kPending);
  story.learn(core::NodeCordonChanged{cordoned, false});
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("Without a node a job waits and says so") {
  Story story;
  story.submit();
  CHECK(test::says<core::reason::NoNodes>(story.decide().verdicts.at(0).reason));
}

TEST_CASE("In a strict queue no job overtakes the first one that does not fit") {
  Story story;
  story.node(4);
  story.running({.min = 3, .max = 3}, 3);
  const JobId large = story.submit({.min = 2, .max = 2});
  const JobId small = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(test::says<core::reason::WaitingForSlots>(story.job(large).verdict.reason));
  CHECK(test::says<core::reason::BehindOlderJob>(story.job(small).verdict.reason));
  CHECK(test::number_in(story.job(small).verdict.reason, "ahead") == 1);
  story.learn(core::JobCancelRequested{large});
  CHECK(names_of(story.decide()) == "end_job start");
}

TEST_CASE("In a loose queue a small job overtakes") {
  Story story;
  story.strict(false);
  story.node(4);
  story.running({.min = 3, .max = 3}, 3);
  story.submit({.min = 2, .max = 2});
  const JobId small = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(story.job(small).state() == JobState::kStarting);
}

TEST_CASE("A job that can never fit holds up no other") {
  Story story;
  story.node(2);
  story.submit({.min = 3, .max = 3});
  const JobId small = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(story.job(small).state() == JobState::kStarting);
}

TEST_CASE("A job starts smaller than it prefers if that is what fits") {
  Story story;
  story.node(3);
  const JobId job = story.submit({.min = 1, .max = 4, .preferred = 4, .sizes = {1, 2, 4}});
  story.decide();
  CHECK(story.job(job).membership.workers.size() == 2);
}

TEST_CASE("A job never starts above its price cap") {
  Story story;
  story.node(4);
  const JobId cheap = story.submit({.min = 1, .max = 4, .preferred = 4, .price_cap = Money::micros(2'000'000)});
  const JobId too_dear = story.submit({.min = 1, .max = 1, .price_cap = Money::micros(500'000)});
  story.decide();
  CHECK(story.job(cheap).membership.workers.size() == 2);
  CHECK(test::says<core::reason::PriceCap>(story.job(too_dear).verdict.reason));
}

TEST_CASE("A job for which too few slots are cheap enough holds up none behind it") {
  Story story;
  story.node(1, "cheap");
  story.node(2, "dear", {}, Money::micros(2'000'000));
  // A dollar and two are three, but each slot may cost half of that: two dollars are too much for one.
  const JobId capped = story.submit({.min = 2, .max = 2, .price_cap = Money::micros(3'000'000)});
  const JobId behind = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(test::says<core::reason::PriceCap>(story.job(capped).verdict.reason));
  CHECK(core::unblocks_of(story.job(capped).verdict.reason, capped).front() == "raise scaling.price_cap to 4.00");
  CHECK(story.job(behind).state() == JobState::kStarting);
}

TEST_CASE("Of the jobs with a price cap that ask for the same, one that finds no room is enough to know it of all") {
  const core::EngineParts parts = plain_parts(std::make_shared<WishPolicy::Wishes>());
  Story story;
  story.strict(false);
  story.node(2, "cheap");
  (void)story.running({.min = 2, .max = 2}, 2);
  story.node(3, "dear", {}, Money::micros(9'000'000));
  const JobId poor = story.submit({.min = 1, .max = 1, .price_cap = Money::micros(2'000'000)});
  const JobId rich = story.submit({.min = 1, .max = 1, .price_cap = Money::micros(9'000'000)});
  const JobId pair = story.submit({.min = 2, .max = 2, .price_cap = Money::micros(18'000'000)});
  core::DecisionDraft draft(story.state(), parts, story.now());
  core::CappedStarts capped;
  const core::NodeDemand poor_demand = draft.demand_within_cap(story.job(poor), 1);
  const auto starts = [&](JobId job, int size, const core::NodeDemand& demand) {
    core::Target target;
    target.size = size;
    return capped.start(draft, story.job(job), target, demand);
  };
  draft.reserve(1);
  CHECK_FALSE(starts(poor, 1, poor_demand));
  // Said to ask for the same, it is not tried, though there is room for it.
  CHECK_FALSE(starts(rich, 1, poor_demand));
  CHECK(draft.changes_nothing());
  SECTION("neither another size nor another cap is the same") {
    CHECK(starts(pair, 2, poor_demand));
    draft.reserve(-1);
    CHECK(starts(rich, 1, draft.demand_within_cap(story.job(rich), 1)));
    CHECK(draft.plan().size() == 2);
  }
  SECTION("it is tried once more slots are usable") {
    draft.reserve(-1);
    CHECK(starts(rich, 1, poor_demand));
  }
}

TEST_CASE("After the end of training programs have ten minutes to save their result, and the killing of one is told") {
  Story story;
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 1, .grace = Duration::seconds(3)}, 1);
  story.learn(core::TrainingFinished{job, 40, 1.25});
  CHECK(names_of(story.decide()).empty());
  CHECK(core::sentence(story.job(job).verdict.reason) ==
        "its training has finished after 40 steps; its program has 10 min to save the result and end");
  story.pass(Duration::seconds(599));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(1));
  const core::Decision decision = story.decide();
  CHECK(names_of(decision) == "stop_worker");
  CHECK(core::sentence(decision.plan.front().reason).find("did not exit within 10 min after the end of training") !=
        std::string::npos);
  story.learn(core::WorkerExited{WorkerId(1), -1, 9, {}});
  CHECK(story.last("worker.lost").data["worker"] == "w-1");
  story.decide();
  CHECK(story.job(job).state() == JobState::kSucceeded);
  CHECK(story.job(job).recovery.last_error.find("did not exit within 10 min") != std::string::npos);
}

TEST_CASE("A program that fails after the end of training fails its job, one that is killed from outside does not") {
  for (const bool is_signal : {true, false}) {
    Story story;
    story.node(2);
    const JobId job = story.running({.min = 2, .max = 2}, 2);
    story.learn(core::TrainingFinished{job, 40, 1.25});
    story.decide();
    story.exit(WorkerId(1));
    story.decide();
    story.learn(core::WorkerExited{WorkerId(2), is_signal ? -1 : 1, is_signal ? 11 : 0, "no space left"});
    CHECK(names_of(story.decide()) == "end_job");
    CHECK(story.last("worker.lost").data["worker"] == "w-2");
    CHECK(story.job(job).state() == (is_signal ? JobState::kSucceeded : JobState::kFailed));
    if (is_signal) continue;
    CHECK(core::sentence(story.job(job).verdict.reason) ==
          "failed: its training finished, and then its program failed, so its result may not be saved");
    CHECK(story.last("job.finished").data["error"].get<std::string>().find("no space left") != std::string::npos);
    CHECK(story.job(job).recovery.restarts == 0);
  }
}

TEST_CASE("A cancel ends programs that go on after the end of training") {
  Story story;
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 1}, 1);
  story.learn(core::TrainingFinished{job, 40, 1.25});
  story.decide();
  story.learn(core::JobCancelRequested{job});
  CHECK(names_of(story.decide()) == "stop_worker");
  story.exit(WorkerId(1), 143);
  story.decide();
  CHECK(story.job(job).state() == JobState::kCancelled);
}

TEST_CASE("When training has finished, the exits are normal and the job succeeds") {
  Story story;
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  story.learn(core::TrainingFinished{job, 40, 1.25});
  CHECK(names_of(story.decide()).empty());
  story.exit(WorkerId(1));
  story.decide();
  story.exit(WorkerId(2));
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.job(job).state() == JobState::kSucceeded);
  CHECK(story.job(job).recovery.restarts == 0);
  CHECK(story.state().slots_free() == 2);
  CHECK(story.last("job.finished").data["state"] == "succeeded");
  CHECK(story.last("job.finished").data["error"].is_null());
}

TEST_CASE("A worker that does not exit after the end has its grace, where that is longer than ten minutes") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1, .grace = Duration::seconds(900)}, 1);
  story.learn(core::TrainingFinished{job, 40, 1.25});
  story.decide();
  REQUIRE(story.engine().next_due());
  story.pass(Duration::seconds(899));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(1));
  CHECK(names_of(story.decide()) == "stop_worker");
}

TEST_CASE("Cancelling stops the workers with notice, and the job ends when they are gone") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2}, 2);
  story.learn(core::JobCancelRequested{job});
  const auto decision = story.decide();
  CHECK(names_of(decision) == "stop_worker stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == Duration::seconds(30));
  story.exit(WorkerId(1), -1);
  story.exit(WorkerId(2), -1);
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.job(job).state() == JobState::kCancelled);
  CHECK(story.job(job).recovery.restarts == 0);
  CHECK(story.refuses(core::JobCancelRequested{job}).find("already ended") != std::string::npos);
}

TEST_CASE("A waiting job that is cancelled ends at once") {
  Story story;
  const JobId job = story.submit();
  story.decide();
  story.learn(core::JobCancelRequested{job});
  CHECK(names_of(story.decide()) == "end_job");
}

TEST_CASE("A job that outlives its limit is ended") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1, .max_duration = Duration::seconds(60)}, 1);
  story.decide();
  CHECK(story.engine().next_due() == *story.job(job).started_at + Duration::seconds(60));
  story.pass(Duration::seconds(60));
  CHECK(names_of(story.decide()) == "stop_worker");
  story.exit(WorkerId(1), -1);
  story.decide();
  CHECK(test::says<core::reason::MaxDuration>(story.job(job).verdict.reason));
}

TEST_CASE("A job that may go on after all goes on without the workers that were told to end before") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2, .max_duration = Duration::seconds(60)}, 2);
  story.pass(Duration::seconds(60));
  CHECK(names_of(story.decide()) == "stop_worker stop_worker");
  core::JobSpec longer = story.job(job).spec;
  longer.max_duration = Duration::seconds(3'600);
  story.learn(core::JobChanged{job, longer});
  story.exit(WorkerId(1), -1);
  CHECK(names_of(story.decide()) == "preempt");  // the other one ends as well, and is none to go on with
  story.exit(WorkerId(2), -1);
  story.decide();
  CHECK(story.job(job).state() == JobState::kStarting);
}

TEST_CASE("A suspended job holds nothing, and starts again when it is resumed") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2}, 2);
  const auto generation = story.job(job).membership.generation;
  story.learn(core::JobSuspendRequested{job});
  CHECK(names_of(story.decide()) == "preempt");
  CHECK(story.job(job).state() == JobState::kSuspending);
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(story.job(job).state() == JobState::kSuspended);
  CHECK(story.count("job.suspended") == 1);
  CHECK(story.state().slots_free() == 2);
  story.decide();
  story.learn(core::JobResumeRequested{job});
  const auto again = story.decide();
  CHECK(names_of(again) == "start");
  CHECK(test::says<core::reason::Resumed>(again.plan[0].reason));
  story.settle(job);
  CHECK(story.job(job).membership.generation > generation);
  CHECK(story.refuses(core::JobResumeRequested{job}).find("only a suspended job") != std::string::npos);
}

TEST_CASE("A job suspended and resumed before its workers are gone goes back to the queue") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  story.learn(core::JobSuspendRequested{job});
  story.decide();
  story.learn(core::JobResumeRequested{job});
  story.exit(WorkerId(1));
  CHECK(story.job(job).state() == JobState::kPending);
  CHECK(names_of(story.decide()) == "start");
}

}  // namespace
}  // namespace tidepool::test
