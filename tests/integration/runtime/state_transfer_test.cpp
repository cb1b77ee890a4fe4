// How a state of some size reaches joining workers, and what a death in the middle of it costs.
#include <catch2/catch.hpp>

#include <csignal>

#include "tests/support/elastic_scene.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kMiB = 1U << 20U;
constexpr std::int64_t kSmallState = 2 * 64 * 4 + 8;

}  // namespace

TEST_CASE("what stands still is sent ahead: at the switch only the rest moves") {
  Scene scene({.steps = 60, .step_us = 1'000, .moving_bytes = kMiB, .standing_bytes = 24 * kMiB});
  scene.start(2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  scene.finish();
  const auto moved = scene.leader.received<api::SwitchedMessage>().at(1).bytes_moved;
  CHECK(moved == static_cast<std::int64_t>(kMiB) + kSmallState);
}

TEST_CASE("what changes after it was sent ahead is sent again: joining workers are replicas, whatever the moment") {
  for (int i = 0; i < 6; ++i) {
    Scene scene({.steps = 250, .step_us = 1'000, .seldom_bytes = 2 * kMiB, .ahead_min_bytes = 0});
    scene.start(1);
    scene.workers.push_back(scene.boot());
    scene.leader.commit(scene.workers);
    REQUIRE(scene.enters(scene.workers[1], 2));
    scene.finish();
    CHECK(scene.job.diary(scene.workers[1]).final_digest == scene.job.diary(scene.workers[0]).final_digest);
  }
}

TEST_CASE("a state that every step changes is sent at the switch, whole") {
  Scene scene({.steps = 150, .step_us = 1'000, .moving_bytes = 17 * kMiB});
  scene.start(1);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[1], 2));
  scene.finish();
  const auto moved = scene.leader.received<api::SwitchedMessage>().at(1).bytes_moved;
  CHECK(moved == static_cast<std::int64_t>(17 * kMiB) + kSmallState);
}

TEST_CASE("a joining worker that dies while the state is on its way costs the others no step") {
  for (const bool at_the_switch : {false, true}) {
    CAPTURE(at_the_switch);
    Scene scene({.steps = 60,
                 .step_us = 1'000,
                 .moving_bytes = at_the_switch ? 20 * kMiB : 0,
                 .standing_bytes = at_the_switch ? 0 : 32 * kMiB});
    scene.start(2);
    const WorkerId joining_worker = scene.boot();
    auto members = scene.workers;
    members.push_back(joining_worker);
    scene.leader.commit(members);
    // All addresses are there: from now on it connects, is sent the state ahead, or switches.
    REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 3; }));
    static_cast<void>(scene.leader.run_until([] { return false; }, at_the_switch ? 60 : 20));
    scene.leader.kill(joining_worker);
    REQUIRE(scene.enters(scene.workers[0], 3));
    scene.finish();
    for (const WorkerId worker : scene.workers) CHECK(scene.job.diary(worker).retries <= 1);
  }
}

TEST_CASE("a job ends well while its state is being sent ahead, and nothing reads the state afterwards") {
  for (std::int64_t steps = 250; steps <= 650; steps += 50) {
    CAPTURE(steps);
    Scene scene({.steps = steps, .step_us = 500, .standing_bytes = 256 * kMiB, .keeps_digests = false});
    scene.start(1);
    const WorkerId joining_worker = scene.boot();
    scene.leader.commit({scene.workers[0], joining_worker});
    scene.job.hurry();
    REQUIRE(scene.leader.run_until([&] { return scene.leader.exits().contains(scene.workers[0]); }));
    CHECK(scene.leader.exits().at(scene.workers[0]) == 0);
    scene.leader.kill(joining_worker);
    REQUIRE(scene.all_have_left());
  }
}

TEST_CASE("both joining workers and a member die in one switch, and the last replica carries the job on") {
  Scene scene({.steps = 150, .step_us = 500, .moving_bytes = 8 * kMiB});
  scene.start(2);
  const WorkerId first = scene.boot();
  const WorkerId second = scene.boot();
  scene.leader.commit({scene.workers[0], scene.workers[1], first, second});
  REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 4; }));
  for (const WorkerId worker : {first, second, scene.workers[0]}) scene.leader.kill(worker);
  scene.workers.erase(scene.workers.begin());
  REQUIRE(scene.enters(scene.workers[0], 3));
  scene.finish();
}

TEST_CASE("a background build that takes too long becomes a short stop at a step boundary") {
  Scene scene({.steps = 4'000, .step_us = 1'000, .build_deadline = runtime::Millis{200}});
  scene.start(2);
  const WorkerId joining_worker = scene.boot();
  auto members = scene.workers;
  members.push_back(joining_worker);
  scene.leader.commit(members);
  // It has said where it listens, and then nothing more: the others connect to it in vain.
  REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 3; }));
  scene.leader.signal(joining_worker, SIGSTOP);
  const Diary& diary = scene.job.diary(scene.workers[0]);
  const auto stands_still = [&] { return now_us() - diary.last_commit_us > kSecond / 4; };
  const bool stopped = scene.leader.run_until([&] { return stands_still() || diary.generation == 2; });
  scene.leader.signal(joining_worker, SIGCONT);
  REQUIRE(stopped);
  REQUIRE(scene.enters(joining_worker, 2));
  REQUIRE(scene.goes_on(joining_worker));
  for (const WorkerId worker : scene.workers) CHECK(scene.job.diary(worker).retries == 0);
}

}  // namespace tidepool::test
