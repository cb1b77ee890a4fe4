// Real worker processes, one event at a time. How long each takes is tools/bench's to say; here only whether a push
// served it or a timeout did.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "tests/support/elastic_scene.hpp"

namespace tidepool::test {
namespace {

// A generation that cannot be built: its joining worker never says where it listens.
WorkerId commit_with_silent_joining_worker(Scene& scene) {
  const WorkerId joining_worker = scene.boot();
  scene.leader.signal(joining_worker, SIGSTOP);
  auto members = scene.workers;
  members.push_back(joining_worker);
  scene.leader.commit(members);
  return joining_worker;
}

}  // namespace

TEST_CASE("a job grows and shrinks without a step done twice, and leaving workers exit with 0") {
  for (const auto build : {runtime::BuildMode::kBackground, runtime::BuildMode::kWindow}) {
    Scene scene({.steps = 250, .step_us = 1'000, .build = build});
    scene.start(1);
    scene.workers.push_back(scene.boot());
    scene.workers.push_back(scene.boot());
    scene.leader.commit(scene.workers);
    REQUIRE(scene.enters(scene.workers[2], 2));
    REQUIRE(scene.goes_on(scene.workers[0]));
    const WorkerId leaving_worker = scene.workers.back();
    scene.workers.pop_back();
    scene.leader.commit(scene.workers);
    REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(leaving_worker); }));
    CHECK(scene.leader.exits().at(leaving_worker) == 0);
    CHECK(scene.job.diary(leaving_worker).ending == static_cast<int>(runtime::Ending::kLeft));
    scene.finish();
    const auto switches = scene.leader.received<api::SwitchedMessage>();
    REQUIRE(switches.size() == 3);
    for (const auto& switched : switches) {
      CHECK(switched.steps_redone == 0);
      CHECK(switched.samples_repeated == 0);
      CHECK(switched.stall_ms < kFarBelowTimeouts / 1'000);
    }
    CHECK(switches[1].bytes_moved == 2 * (2 * 64 * 4 + 8));
    for (const WorkerId worker : scene.workers) CHECK(scene.job.diary(worker).retries == 0);
  }
}

// How many samples a rank took in each step, for the steps of which all are the same: {first step, last, samples}.
void check_share(const Diary& diary, std::int64_t first, std::int64_t last, std::uint32_t samples) {
  REQUIRE(first <= last);
  for (std::int64_t step = first; step <= last; ++step) {
    CAPTURE(step);
    REQUIRE(diary.samples_of[static_cast<std::size_t>(step)] == samples);
  }
}

TEST_CASE("a slow rank takes fewer samples from the agreed step on, over the same communicator") {
  struct Case {
    double slowness;
    std::uint32_t quick_share, slow_share;  // of 60 samples
  };
  for (const auto& [slowness, quick_share, slow_share] : {Case{1.5, 36, 24}, Case{2.0, 40, 20}}) {
    CAPTURE(slowness);
    Scene scene({.samples = 3'000,
                 .global_batch = 60,
                 .steps = 200,
                 .step_us = 0,
                 .sample_us = 50,
                 .slowness = {{2, slowness}}});
    scene.start(2);
    scene.leader.share({1'000, static_cast<std::int64_t>(1'000 / slowness)});
    const auto changes = [&] { return scene.leader.received<api::RebalancedMessage>(); };
    REQUIRE(scene.leader.run_until([&] { return !changes().empty(); }));
    scene.finish();
    REQUIRE(changes().size() == 1);
    CHECK(changes()[0].generation == 1);
    CHECK(changes()[0].number == 1);
    CHECK(changes()[0].stall_ms < kFarBelowTimeouts / 1'000);
    const std::int64_t at = changes()[0].step;
    for (const std::size_t rank : {0U, 1U}) {
      const Diary& diary = scene.job.diary(scene.workers[rank]);
      check_share(diary, 1, at, 30);
      check_share(diary, at + 1, 200, rank == 0 ? quick_share : slow_share);
    }
    // Every report speaks of one table, and their steps say when it changed.
    for (const auto& report : scene.leader.received<api::StepsMessage>()) {
      CHECK(report.shares == (report.last_step > at ? 1 : 0));
    }
    CHECK(scene.leader.received<api::SwitchedMessage>().size() == 1);
  }
}

TEST_CASE("a table of another length than the generation is not used") {
  Scene scene({.steps = 120});
  scene.start(2);
  scene.leader.share({1, 2, 3});
  REQUIRE(scene.goes_on(scene.workers[0]));
  scene.leader.share({1, 36});  // a batch of 37: the first gets one sample
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.received<api::RebalancedMessage>().empty(); }));
  CHECK(scene.leader.received<api::RebalancedMessage>()[0].number == 2);
  scene.finish();
}

TEST_CASE("a report of steps counts the samples of all of them, over the ends of epochs and changes of size") {
  Scene scene({.samples = 100, .steps = 200, .step_us = 1'000});
  scene.start(1);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[1], 2));
  scene.finish();
  const auto reports = scene.leader.received<api::StepsMessage>();
  REQUIRE(!reports.empty());
  for (const auto& report : reports) {
    CAPTURE(report.last_step);
    const std::int64_t in_epoch = report.last_step % 3;  // of a batch of 37: 37, 37 and 26 samples
    CHECK(report.samples_total == report.last_step / 3 * 100 + in_epoch * 37);
  }
}

TEST_CASE("a new generation begins with even shares") {
  Scene scene({.steps = 200, .step_us = 1'000});
  scene.start(2);
  scene.leader.share({1, 9});
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.received<api::RebalancedMessage>().empty(); }));
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  scene.finish();
  CHECK(scene.leader.received<api::StepsMessage>().back().generation == 2);
  CHECK(scene.leader.received<api::StepsMessage>().back().shares == 0);
}

TEST_CASE("after kill -9 of a worker the survivors step again without waiting for a timeout") {
  for (const std::size_t victim : {0U, 2U}) {
    CAPTURE(victim);
    Scene scene({.steps = 150, .step_us = 1'000});
    scene.start(4);
    const std::int64_t before = now_us();
    scene.leader.kill(scene.workers[victim]);
    scene.workers.erase(scene.workers.begin() + static_cast<std::ptrdiff_t>(victim));
    REQUIRE(scene.enters(scene.workers[0], 2));
    REQUIRE(scene.goes_on(scene.workers[0], 1));
    const std::int64_t gap_us = gap_after(scene.job.diary(scene.workers[0]), before);
    std::printf("kill -9 of one in four: %.1f ms until the next step\n", static_cast<double>(gap_us) / 1'000);
    CHECK(gap_us < kFarBelowTimeouts);
    scene.finish();
    for (const WorkerId worker : scene.workers) {
      CHECK(scene.job.diary(worker).worst_gap_us < kFarBelowTimeouts);
      CHECK(scene.job.diary(worker).retries <= 1);
    }
    const auto switches = scene.leader.received<api::SwitchedMessage>();
    REQUIRE(switches.size() == 2);
    CHECK(switches[1].steps_redone <= 1);
  }
}

TEST_CASE("a push frees workers that are blocked on one that hangs, long before any timeout") {
  Scene scene({.steps = 100, .step_us = 1'000});
  scene.start(3);
  const WorkerId resize_blocked = scene.workers[1];
  scene.leader.signal(resize_blocked, SIGSTOP);
  // All are stuck now: the frozen worker's connections stay open and silent.
  const WorkerId witness = scene.workers[0];
  REQUIRE(scene.leader.run_until([&] { return now_us() - scene.job.diary(witness).last_commit_us > 300'000; }));
  scene.workers.erase(scene.workers.begin() + 1);
  const std::int64_t pushed = now_us();
  scene.leader.commit(scene.workers, true);
  REQUIRE(scene.goes_on(witness, 1));
  const std::int64_t gap_us = gap_after(scene.job.diary(witness), pushed);
  std::printf("a push past a hanging rank: %.1f ms until the next step\n", static_cast<double>(gap_us) / 1'000);
  CHECK(gap_us < kFarBelowTimeouts);
  scene.leader.kill(resize_blocked);
  scene.finish();
}

TEST_CASE("training goes on while the daemon is away, and membership changes again when it is back") {
  Scene scene({.steps = 1'500, .step_us = 1'000});
  scene.start(2);
  scene.leader.go_away();
  REQUIRE(scene.goes_on(scene.workers[0], 200));
  scene.leader.come_back();
  scene.workers.push_back(scene.boot());
  REQUIRE(scene.leader.run_until([&] {
    const auto ready = scene.leader.received<api::ReadyMessage>();
    // Each of the two says again which generation it is in.
    return std::count_if(ready.begin(), ready.end(), [](const auto& message) { return message.generation == 1; }) >= 2;
  }));
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  CHECK(scene.job.diary(scene.workers[0]).retries == 0);
  scene.finish();
}

TEST_CASE("a daemon that restarts in the middle of a build learns the addresses again") {
  Scene scene({.steps = 200, .step_us = 1'000});
  scene.start(2);
  const WorkerId joining_worker = scene.boot();
  scene.workers.push_back(joining_worker);
  scene.leader.signal(joining_worker, SIGSTOP);
  scene.leader.commit(scene.workers);
  REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 2; }));
  scene.leader.forget_addresses();
  scene.leader.signal(joining_worker, SIGCONT);
  REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 1; }));
  scene.leader.repeat_generation();
  REQUIRE(scene.enters(scene.workers[0], 2));
  scene.finish();
}

TEST_CASE("an agent that is stopped and reads nothing does not hold training up") {
  Scene scene({.steps = 400, .step_us = 200});
  scene.start(2);
  const std::int64_t before = scene.job.diary(scene.workers[0]).steps;
  const std::int64_t until = now_us() + kFarBelowTimeouts;
  while (now_us() < until && scene.job.diary(scene.workers[0]).steps < before + 200) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // and no agent serves the socket
  }
  CHECK(scene.job.diary(scene.workers[0]).steps >= before + 200);
  scene.finish();
}

TEST_CASE("a death that happened while the daemon was away is mended when it is back") {
  Scene scene({.steps = 200, .step_us = 500});
  scene.start(3);
  scene.leader.go_away();
  scene.leader.kill(scene.workers.back());
  scene.workers.pop_back();
  const std::int64_t stuck = scene.job.diary(scene.workers[0]).steps;
  // No daemon commits a generation; the survivors hold the state and wait.
  static_cast<void>(scene.leader.run_until([&] { return scene.job.diary(scene.workers[0]).steps > stuck + 100; }, 300));
  scene.leader.come_back();
  REQUIRE(scene.goes_on(scene.workers[0]));
  scene.finish();
}

TEST_CASE("a rank that has committed the last step ends well, although the others have ended and no order comes") {
  for (const std::set<std::uint64_t>& deserters : {std::set<std::uint64_t>{1}, {2, 3}}) {
    CAPTURE(deserters);
    Scene scene({.steps = 60, .step_us = 500, .end_grace = runtime::Millis{300}, .desert = deserters});
    scene.start(3);
    REQUIRE(scene.all_have_left());
    const auto ends = scene.leader.received<api::FinishedMessage>();
    CHECK(ends.size() == 3 - deserters.size());  // rank 0 may be the one that is gone
    for (const auto& end : ends) CHECK(end.last_step == 60);
    const auto audits = scene.leader.received<api::EpochAuditedMessage>();
    CHECK(!audits.empty());
    for (const auto& audit : audits) CHECK((audit.checksum_ok && audit.used == audit.expected));
    for (const WorkerId worker : scene.workers) {
      if (deserters.contains(worker.number())) continue;
      CHECK(scene.job.diary(worker).last_rank == 0);  // else no rank would write the result
      CHECK(scene.job.diary(worker).final_digest == scene.job.reference_digest());
    }
  }
}

TEST_CASE("programs that end by finish() on the same step end well, whichever workers join or die on the way") {
  for (const bool in_buckets : {false, true}) {
    CAPTURE(in_buckets);
    Scene scene({.steps = 150, .step_us = 1'000, .in_buckets = in_buckets, .open_ended = true});
    scene.start(2);
    scene.workers.push_back(scene.boot());
    scene.leader.commit(scene.workers);
    REQUIRE(scene.enters(scene.workers[2], 2));
    scene.loses(0);
    REQUIRE(scene.enters(scene.workers[0], 3));
    scene.finish();
    for (const WorkerId worker : scene.workers) {
      CHECK(scene.job.diary(worker).ending == static_cast<int>(runtime::Ending::kFinished));
    }
  }
}

TEST_CASE("ranks that end on different steps fail at the first of them instead of waiting for each other") {
  for (const std::uint64_t first : {1U, 2U}) {
    for (const bool in_buckets : {false, true}) {
      CAPTURE(first, in_buckets);
      Scene scene(
          {.steps = 100, .step_us = 500, .in_buckets = in_buckets, .open_ended = true, .finish_at = {{first, 60}}});
      scene.start(2);
      REQUIRE(scene.all_have_left());
      CHECK(scene.leader.received<api::FinishedMessage>().empty());
      for (const WorkerId worker : scene.workers) {
        CHECK(scene.job.diary(worker).ending == static_cast<int>(runtime::Ending::kFailed));
        CHECK(scene.job.diary(worker).steps == 60);
        CHECK(scene.leader.exits().at(worker) == 1);
      }
    }
  }
}

TEST_CASE("a rank whose program has ended does not end the job alone when the others are lost") {
  Scene scene({.steps = 100,
               .step_us = 500,
               .end_grace = runtime::Millis{100},
               .hang_at = 60,
               .open_ended = true,
               .finish_at = {{2, 60}}});
  scene.start(2);
  REQUIRE(scene.reaches(scene.workers[1], 60));
  scene.leader.go_away();
  scene.leader.kill(scene.workers[0]);
  CHECK_FALSE(scene.leader.run_until([&] { return scene.leader.living() == 0; }, 1'000));
  CHECK(scene.leader.received<api::FinishedMessage>().empty());
  scene.leader.kill(scene.workers[1]);
}

TEST_CASE("a build that is never completed does not keep a rank that has committed the last step") {
  Scene scene({.steps = 600, .step_us = 1'000, .end_grace = runtime::Millis{300}, .desert = {2}});
  scene.start(2);
  static_cast<void>(commit_with_silent_joining_worker(scene));
  const WorkerId left = scene.workers.front();
  scene.job.hurry();
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(left); }));
  CHECK(scene.leader.exits().at(left) == 0);
  CHECK(scene.job.diary(left).final_digest == scene.job.reference_digest());
  CHECK(!scene.leader.received<api::FinishedMessage>().empty());
}

TEST_CASE("a joining worker that dies while the others build with it costs nothing but the build") {
  Scene scene({.steps = 200, .step_us = 1'000});
  scene.start(2);
  const WorkerId joining_worker = commit_with_silent_joining_worker(scene);
  REQUIRE(scene.goes_on(scene.workers[0], 50));  // in the old generation, which still works
  CHECK(scene.job.diary(scene.workers[0]).generation == 1);
  scene.leader.kill(joining_worker);
  REQUIRE(scene.enters(scene.workers[0], 3));
  scene.finish();
}

TEST_CASE("a worker that cannot listen for the others ends for that, and does not wait until it is ended") {
  Scene scene({.steps = 100, .hosts = {{2, "192.0.2.1"}}});  // no machine has this address
  const WorkerId hears = scene.boot();
  const WorkerId deaf = scene.boot();
  scene.leader.leave_deaths_alone();
  scene.leader.commit({hears, deaf});
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(deaf); }));
  CHECK(scene.leader.exits().at(deaf) == 1);
  CHECK(scene.leader.alive(hears));
  scene.leader.kill(hears);
}

TEST_CASE("at the end each rank tells of the newest epochs: what rank 0 told of them may come later than the end") {
  Scene scene({.steps = 70, .step_us = 300});  // two epochs, and a part of the third
  scene.start(2);
  scene.finish();
  std::map<std::int64_t, int> told;
  for (const auto& audit : scene.leader.received<api::EpochAuditedMessage>()) ++told[audit.epoch];
  CHECK(told == std::map<std::int64_t, int>{{0, 2}, {1, 2}, {2, 2}});
}

}  // namespace tidepool::test
