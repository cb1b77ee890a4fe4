// A job whose nodes are all lost from sight goes on with its living workers when they are back, as far as fencing
// allows.
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

// A job of two workers on one node, which is then lost from sight.
struct Lost {
  Story story;
  NodeId node;
  JobId job;

  explicit Lost(JobSketch sketch = {.min = 1, .max = 2, .cooldown = {}}) {
    node = story.node(2, "far");
    job = story.running(sketch, 2);
    story.learn(core::NodeLost{node, "no heartbeat"});
    story.decide();
  }
  void back(std::vector<WorkerId> running) {
    story.node(2, "far", std::move(running));
    story.decide();
  }
  const core::Job& state() const { return story.job(job); }
};

TEST_CASE("Workers that lived through the loss of their node are taken back, at the same generation") {
  Lost lost;
  CHECK(lost.state().state() == JobState::kPending);
  const GenerationNumber generation = lost.state().membership.generation;
  lost.back({WorkerId(1), WorkerId(2)});
  CHECK(lost.state().state() == JobState::kRunning);
  CHECK(lost.state().membership.members == std::vector{WorkerId(1), WorkerId(2)});
  CHECK(lost.state().membership.generation == generation);
  CHECK(lost.story.last("job.resumed").data["size"] == 2);
  lost.story.steps(lost.job, 5);  // no member was told anything, so they went on
  CHECK(lost.state().state() == JobState::kRunning);
}

TEST_CASE("A node whose agent is stopped with its workers costs their job no restart, and gets no new ones") {
  Story story;
  story.learn(core::NodeDampingConfigured{core::kUsualDamping});
  const NodeId node = story.node(2, "pilot");
  const JobId job = story.running({.min = 1, .max = 2, .max_restarts = 0, .cooldown = {}}, 2);
  story.learn(core::NodeLost{.node = node, .why = "its agent was stopped", .stopped = true});
  CHECK(story.job(job).state() == JobState::kPending);
  CHECK(story.job(job).recovery.restarts == 0);
  CHECK_FALSE(story.state().find_node(node)->faults);
  for (const int code : {2, 143}) {
    story.exit(WorkerId(code == 2 ? 1 : 2), code);
    CHECK(names_of(story.decide()).empty());
  }
  CHECK(story.job(job).state() == JobState::kPending);
  CHECK_FALSE(story.job(job).recovery.misconfigured);
  story.node(2, "pilot");
  CHECK(names_of(story.decide()) == "start");
  story.learn(core::NodeLost{.node = node, .why = "no heartbeat"});
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.state().find_node(node)->faults);
}

TEST_CASE("A job that saves its last state when its node is stopped has not failed by that") {
  Story story;
  const NodeId node = story.node(2, "pilot");
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = {}}, 2);
  story.learn(core::TrainingFinished{job, story.job(job).progress.step, 0.5});
  story.learn(core::NodeLost{.node = node, .why = "its agent was stopped", .stopped = true});
  for (const std::uint64_t worker : {1U, 2U}) story.exit(WorkerId(worker), 143);
  story.decide();
  CHECK(story.job(job).state() == JobState::kSucceeded);
}

TEST_CASE("If one of them has died meanwhile the rest is stopped and the job starts anew") {
  Lost lost;
  lost.back({WorkerId(2)});
  CHECK(lost.state().state() == JobState::kStarting);  // on the free slot
  CHECK(lost.story.worker(WorkerId(2)).kill_at);
}

TEST_CASE("Once the job has started elsewhere they are fenced off and stopped") {
  Lost lost;
  lost.story.node(2, "near");
  REQUIRE(names_of(lost.story.decide()) == "start");
  lost.back({WorkerId(1), WorkerId(2)});
  CHECK(lost.state().state() == JobState::kStarting);
  CHECK(lost.state().membership.members.empty());
  CHECK(lost.story.worker(WorkerId(1)).kill_at);
  CHECK(lost.story.worker(WorkerId(2)).kill_at);
}

TEST_CASE("Workers that are lost with one node are told together, and count as one loss") {
  Story story;
  const NodeId node = story.node(2, "far");
  story.node(1, "near");
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.decide();
  CHECK(core::sentence(story.job(job).verdict.reason) == "w-2 and 1 more of its workers were lost; 1 worker goes on");
  CHECK(story.job(job).recovery.restarts == 1);
}

TEST_CASE("A job that was cancelled, suspended or cut down meanwhile does not take them back") {
  Lost suspended;
  suspended.story.learn(core::JobSuspendRequested{suspended.job});
  suspended.back({WorkerId(1), WorkerId(2)});
  CHECK(suspended.state().state() == JobState::kSuspended);
  CHECK(suspended.story.worker(WorkerId(1)).kill_at);

  Lost smaller;
  core::JobSpec spec = smaller.state().spec;
  spec.elastic.max = 1;
  spec.elastic.preferred = 1;
  spec.elastic.sizes = {1};
  smaller.story.learn(core::JobChanged{smaller.job, spec});
  smaller.back({WorkerId(1), WorkerId(2)});
  CHECK(smaller.state().state() != JobState::kRunning);
}

}  // namespace
}  // namespace tidepool::test
