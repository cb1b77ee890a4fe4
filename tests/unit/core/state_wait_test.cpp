// A job whose newest state lies on a node without room: how long it waits for it, and what it says when it gives up.
#include "core/decide/state_wait.hpp"
#include "core/explain/explain.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

// A job that was parked at step 102 (some ten seconds of work) on a node that another job has filled since; a second
// node has room.
struct Parked {
  Story story;
  NodeId home, other;
  JobId job, rival;

  explicit Parked(bool shared = false) {
    home = story.node(1);
    core::JobSpec spec = job_spec({.min = 1, .max = 1, .grace = Duration::seconds(5)});
    if (shared) spec.checkpoint.dir = "/checkpoints";
    job = story.engine().next_job_id();
    story.learn(core::JobSubmitted{job, spec});
    story.settle(job);
    story.steps(job, 100);
    story.park(job);
    rival = story.submit({.min = 1, .max = 1});
    story.settle(rival);
    other = story.node(1);
    story.learn(core::JobResumeRequested{job});
  }
  const core::Job& state() const { return story.job(job); }
};

TEST_CASE("It waits for room where its state lies, for as long as the work would take again") {
  Parked parked;
  Story& story = parked.story;
  CHECK(names_of(story.decide()).empty());
  const auto& why = parked.state().verdict.reason;
  CHECK(test::says<core::reason::WaitsForState>(why));
  CHECK(test::number_in(why, "node") == 1);
  CHECK(test::number_in(why, "step") == 102);
  CHECK(test::number_in(why, "redo_s") == Approx(10.2).margin(0.1));
  story.pass(Duration::seconds(6));
  story.learn(core::ClockAdvanced{});
  CHECK(names_of(story.decide()).empty());
  const auto told = core::explain(story.state(), parked.job);
  CHECK(test::number_in(told.reason, "seconds_left") == Approx(4.2).margin(0.1));
  CHECK(told.unblocks().front() == "free a slot on node-1");
  // The wait ends by itself, with no fact.
  core::Decision decision;
  for (int i = 0; i < 10 && names_of(decision).empty(); ++i) {
    REQUIRE(story.engine().next_due());
    story.pass(*story.engine().next_due() - story.now());
    decision = story.decide();
  }
  REQUIRE(names_of(decision) == "start");
  CHECK(std::get<core::StartIntent>(decision.plan[0].intent).joining_workers[0].node == parked.other);
  CHECK(test::says<core::reason::ResumedElsewhere>(decision.plan[0].reason));
  const std::string told_why = core::sentence(decision.plan[0].reason);
  CHECK(told_why.find("away from node-1, which has its state of step ") != std::string::npos);
  CHECK(told_why.find("no room") == std::string::npos);  // the node may as well be lost, drained or shut out
  CHECK_FALSE(parked.state().recovery.waits_near_since);
}

TEST_CASE("A job that was suspended meanwhile waits anew, for as long as before") {
  Parked parked;
  Story& story = parked.story;
  story.decide();
  story.pass(Duration::seconds(6));
  story.learn(core::JobSuspendRequested{parked.job});
  story.pass(Duration::seconds(600));
  story.learn(core::JobResumeRequested{parked.job});
  const Instant resumed = story.now();
  CHECK(names_of(story.decide()).empty());
  CHECK(test::says<core::reason::WaitsForState>(parked.state().verdict.reason));
  CHECK(parked.state().recovery.waits_near_since >= resumed);
}

TEST_CASE("It starts there as soon as there is room") {
  Parked parked;
  Story& story = parked.story;
  story.decide();
  story.learn(core::JobCancelRequested{parked.rival});
  story.decide();
  story.exit(story.job(parked.rival).membership.workers.front(), 0);
  const auto decision = story.decide();
  bool started = false;
  for (const auto& planned : decision.plan) {
    const auto* start = std::get_if<core::StartIntent>(&planned.intent);
    if (start == nullptr) continue;
    started = true;
    CHECK(start->joining_workers[0].node == parked.home);
    CHECK(test::says<core::reason::Resumed>(planned.reason));
  }
  CHECK(started);
}

TEST_CASE("A state that every node sees, or a node that is away or cordoned, is not waited for") {
  Parked shared(true);
  CHECK(names_of(shared.story.decide()) == "start");

  Parked away;
  away.story.learn(core::NodeLost{away.home, "gone"});
  CHECK(names_of(away.story.decide()).find("start") != std::string::npos);

  Parked cordoned;
  cordoned.story.learn(core::NodeCordonChanged{cordoned.home, true});
  CHECK(names_of(cordoned.story.decide()) == "start");
}

TEST_CASE("A job that waits for its state holds up none behind it") {
  Parked parked;
  Story& story = parked.story;
  const JobId next = story.submit({.min = 1, .max = 1});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "start");
  CHECK(core::job_of(decision.plan[0].intent) == next);
  CHECK(test::says<core::reason::WaitsForState>(parked.state().verdict.reason));
}

}  // namespace
}  // namespace tidepool::test
