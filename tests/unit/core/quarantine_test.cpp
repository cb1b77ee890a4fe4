// Slots that stay held after their worker's end: no job gets them, and the worker's job goes on without it.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

core::SlotsHeld held(WorkerId worker, int exit_code = 1) {
  return {.worker = worker,
          .lasted = Duration::seconds(5),
          .why = "memory of GPU-1 is still held",
          .exit_code = exit_code,
          .detail = "out of memory"};
}

// A job of two workers on a node of three slots.
struct HeldScene {
  Story story;
  NodeId node;
  JobId job;

  explicit HeldScene(JobSketch sketch = {.min = 1, .max = 2, .cooldown = {}}, int slots = 3) {
    node = story.node(slots, "a");
    job = story.running(sketch, 2);
  }
  [[nodiscard]] int free() const { return story.state().slots_free(); }
  // Its workers that live get ready and switch; no worker ends.
  void go_on() {
    story.decide();
    for (const WorkerId id : std::vector<WorkerId>(story.job(job).membership.workers)) {
      if (story.worker(id).phase == core::WorkerPhase::kStarting) story.ready(id);
    }
    story.decide();
    const auto& membership = story.job(job).membership;
    if (membership.members.empty() || membership.switched) return;
    story.switched(job);
    story.steps(job, 2);
    story.decide();
  }
};

}  // namespace

TEST_CASE("a job goes on without a worker whose slots are held, and no job gets them until the worker has exited") {
  HeldScene scene;
  Story& story = scene.story;
  const WorkerId gone = story.job(scene.job).membership.members.back();
  story.pass(Duration::seconds(9));
  story.learn(held(gone));
  CHECK(story.job(scene.job).recovery.restarts == 1);
  CHECK(story.job(scene.job).recovery.last_error == gone.text() + " exited with code 1: out of memory");
  CHECK(story.worker(gone).held->since == story.now() - Duration::seconds(5));
  const Instant held_since = story.worker(gone).held->since;
  CHECK(story.last("slots.quarantined").data ==
        nlohmann::json{{"worker", gone.text()}, {"slots", {1}}, {"why", "memory of GPU-1 is still held"}});
  CHECK(story.last("worker.lost").data["worker"] == gone.text());
  CHECK(story.last("worker.lost").node == scene.node);
  story.learn(held(gone));  // the agent says it again after each welcome
  CHECK(story.job(scene.job).recovery.restarts == 1);

  // The free slot takes a worker in its place; the held one takes none.
  scene.go_on();  // with one worker
  scene.go_on();  // and the new one
  CHECK(story.job(scene.job).state() == JobState::kRunning);
  CHECK(story.job(scene.job).size() == 2);
  CHECK(scene.free() == 0);
  const JobId waits = story.submit({.min = 1, .max = 1});
  story.decide();
  CHECK(story.job(waits).state() == JobState::kPending);
  CHECK(says<core::reason::WaitingForSlots>(story.job(waits).verdict.reason));

  story.pass(Duration::seconds(60));
  story.exit(gone, 1, "out of memory");
  CHECK(story.last("slots.released").data ==
        nlohmann::json{{"worker", gone.text()}, {"slots", {1}}, {"seconds", (story.now() - held_since).to_seconds()}});
  CHECK(story.job(scene.job).recovery.restarts == 1);  // counted when its slots were found held
  story.settle(waits);
  CHECK(story.job(waits).state() == JobState::kRunning);
}

TEST_CASE("a waiting job is told of quarantined slots and of the way out, which an operator can take") {
  HeldScene scene({.min = 2, .max = 2, .cooldown = {}}, 2);
  Story& story = scene.story;
  story.learn(held(story.job(scene.job).membership.members.back()));
  story.decide();
  story.exit(story.job(scene.job).membership.workers.front());  // one worker is too few
  story.decide();
  const auto told = core::explain(story.state(), scene.job).unblocks();
  INFO(nlohmann::json(told).dump());
  CHECK(std::find(told.begin(), told.end(),
                  "1 slot of a must leave quarantine (memory of GPU-1 is still held); if you know that nothing is left "
                  "there: schedctl node release-slots a") != told.end());
  story.learn(core::SlotsReleased{scene.node});
  CHECK(story.last("slots.released").data["seconds"] == 5.0);
  CHECK(story.refuses(core::SlotsReleased{scene.node}) == "no slots of node-1 are quarantined");
  CHECK(story.refuses(core::SlotsReleased{NodeId(9)}) == "there is no node-9");
  story.settle(scene.job);
  CHECK(story.job(scene.job).state() == JobState::kRunning);
}

TEST_CASE("a program that has finished well leaves quarantined slots and no loss") {
  HeldScene scene;
  Story& story = scene.story;
  const std::vector<WorkerId> members = story.job(scene.job).membership.members;
  story.steps(scene.job, 5);
  story.learn(held(members.back(), 0));  // before rank 0 has said that all is done
  CHECK(story.job(scene.job).recovery.restarts == 0);
  story.learn(core::TrainingFinished{scene.job, story.job(scene.job).progress.step, 0.5});
  story.learn(held(members.front(), 0));
  story.decide();
  CHECK(story.job(scene.job).state() == JobState::kSucceeded);
  CHECK(story.job(scene.job).recovery.restarts == 0);
  CHECK(scene.free() == 1);
  for (const WorkerId worker : members) story.exit(worker);
  CHECK(scene.free() == 3);
}

TEST_CASE("slots stay held while their node is away and after it is back") {
  HeldScene scene;
  Story& story = scene.story;
  const std::vector<WorkerId> members = story.job(scene.job).membership.members;
  story.learn(held(members.back()));
  story.learn(core::NodeLost{scene.node, "no heartbeat"});
  story.node(3, "a", members);
  story.decide();
  CHECK(story.worker(members.back()).is_gone());
  CHECK_FALSE(story.worker(members.back()).node_lost);
  CHECK(story.job(scene.job).recovery.restarts == 1);  // the node went before the job could go on without the first
  story.node(3, "a", {});                              // a new machine under that name
  CHECK(story.state().find_worker(members.back()) == nullptr);
  CHECK(story.last("slots.released").data["worker"] == members.back().text());
}

}  // namespace tidepool::test
