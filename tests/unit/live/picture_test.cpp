// What readers are shown beside the state, the newest measurements of jobs and workers: only of those that are there.
#include <catch2/catch.hpp>

#include "tests/support/loop_world.hpp"

namespace tidepool::test {
namespace {

// A job of two workers on one node, which have reported steps once.
struct Scene {
  LoopWorld world;
  JobId job;
  WorkerId first, second;
  std::int64_t last_step = 0;

  std::size_t checkpoint_failures = 0;

  Scene() {
    world.on_turn = [this](const live::Loop::TurnTimes& turn) { checkpoint_failures += turn.checkpoint_failures; };
    REQUIRE(world.boot(world.dir / "life"));
    turn(world.node.hello());
    turn(submit("a-job", "", [this](const Result<live::Receipt>& receipt) { job = *receipt->job; }));
    REQUIRE(world.node.started().size() == 2);
    for (const WorkerId worker : world.node.started()) say(worker, api::ReadyMessage{});
    first = now().membership.members.at(0);
    second = now().membership.members.at(1);
    say(first, api::SwitchedMessage{.generation = now().membership.generation, .switch_step = 1});
    report();
    REQUIRE(picture()->latest_metrics.contains(job));
    REQUIRE(picture()->compute_ms.size() == 2);
  }

  void turn(live::InboxItem item) {
    world.clock.pass(Duration::millis(100));
    std::vector<live::InboxItem> items;
    items.push_back(std::move(item));
    REQUIRE(world.turn(std::move(items)));
  }
  void say(WorkerId worker, api::FromWorker message) {
    turn(live::FromWorkerItem{NodeId(1), {.worker = worker, .message = std::move(message)}});
  }
  // Rank 0 tells of a step of both, in the generation that it knows.
  void report() {
    ++last_step;
    say(first, api::StepsMessage{.generation = 1,
                                 .last_step = last_step,
                                 .steps = 1,
                                 .elapsed_us = 50'000,
                                 .samples = 64,
                                 .loss = 1,
                                 .epoch = 1,
                                 .compute_us = {20'000, 30'000},
                                 .samples_total = last_step * 64});
  }
  [[nodiscard]] const core::Job& now() const { return *world.state().find_job(job); }
  [[nodiscard]] std::shared_ptr<const live::Published> picture() const { return world.publisher.picture(); }
};

}  // namespace

TEST_CASE("a report that comes after its job's end does not bring the job's pulse back") {
  Scene scene;
  scene.turn(
      live::CommandItem{{.body = leader::CancelJob{scene.job}, .actor = "t"}, [](const Result<live::Receipt>&) {}});
  scene.turn(live::AgentLostItem{scene.world.node.name(), "no agent"});
  REQUIRE(core::is_final(scene.now().state()));
  CHECK(scene.picture()->latest_metrics.empty());
  live::AgentHelloItem back = scene.world.node.hello();
  back.hello.running = {scene.first, scene.second};  // neither has been told
  scene.turn(back);
  REQUIRE(scene.world.state().find_worker(scene.first) != nullptr);
  scene.report();
  CHECK(scene.picture()->latest_metrics.empty());
}

TEST_CASE("a worker that has exited has no compute time any more, and no late report brings it back") {
  Scene scene;
  scene.turn(
      live::WorkerExitedItem{NodeId(1), {.report = 1, .worker = scene.second, .exit_code = 1, .detail = "died"}});
  REQUIRE(scene.world.state().find_worker(scene.second) == nullptr);
  CHECK_FALSE(scene.picture()->compute_ms.contains(scene.second));
  scene.report();
  CHECK_FALSE(scene.picture()->compute_ms.contains(scene.second));
  for (const auto& [worker, ms] : scene.picture()->compute_ms) {
    CHECK(scene.world.state().find_worker(worker) != nullptr);
  }
}

TEST_CASE("workers of a node that is lost have no compute time any more") {
  Scene scene;
  scene.turn(live::AgentLostItem{scene.world.node.name(), "no agent"});
  CHECK(scene.picture()->compute_ms.empty());
}

TEST_CASE("compute times are those of the members, by rank") {
  const Scene scene;
  CHECK(scene.picture()->compute_ms.size() == 2);
  CHECK(scene.picture()->compute_ms.at(scene.first) == 20.0);
  CHECK(scene.picture()->compute_ms.at(scene.second) == 30.0);
  CHECK(scene.picture()->latest_metrics.at(scene.job).step_ms == Approx(50));
}

TEST_CASE("every checkpoint that fails is counted, also those of which no event tells") {
  Scene scene;
  for (int i = 0; i < 7; ++i) {
    scene.say(scene.first, api::CheckpointFailedMessage{.generation = 1, .step = 1, .error = "disk full"});
  }
  CHECK(scene.now().recovery.checkpoint_failure->times == 7);
  CHECK(scene.checkpoint_failures == 7);
}

}  // namespace tidepool::test
