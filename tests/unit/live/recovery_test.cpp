// A journal that is taken up by a daemon with other settings: what its rows led to then, they lead to again.
#include <catch2/catch.hpp>

#include "tests/support/loop_world.hpp"

namespace tidepool::test {
namespace {

// A job of two workers on one node, of which the second is slow in every step that is reported.
struct SlowPair {
  LoopWorld world;
  JobId job;
  std::int64_t last_step = 0;

  explicit SlowPair(const std::string& detector) {
    world.detector = detector;
    REQUIRE(world.boot(world.dir / "life"));
    turn(world.node.hello());
    core::JobSpec spec = elastic_job("a-job");
    spec.elastic.min = spec.elastic.max = spec.elastic.preferred = 2;
    spec.elastic.sizes = {2};
    turn(live::CommandItem{{.body = leader::SubmitJob{std::move(spec)}, .actor = "t", .idempotency = {}},
                           [this](const Result<live::Receipt>& receipt) { job = *receipt->job; }});
    for (const WorkerId worker : {WorkerId(1), WorkerId(2)}) say(worker, api::ReadyMessage{});
    REQUIRE(now().membership.members.size() == 2);
  }

  void turn(live::InboxItem item) {
    world.clock.pass(Duration::millis(100));
    std::vector<live::InboxItem> items;
    items.push_back(std::move(item));
    INFO(world.failure);
    REQUIRE(world.turn(std::move(items)));
  }
  void say(WorkerId worker, api::FromWorker message) {
    turn(live::FromWorkerItem{NodeId(1), {.worker = worker, .message = std::move(message)}});
  }
  void report(int steps) {
    for (int i = 0; i < steps; ++i) {
      ++last_step;
      say(WorkerId(1), api::StepsMessage{.generation = 1,
                                         .last_step = last_step,
                                         .steps = 1,
                                         .elapsed_us = 50'000,
                                         .samples = 64,
                                         .loss = 1,
                                         .epoch = 1,
                                         .compute_us = {20'000, 45'000},
                                         .samples_total = last_step * 64});
    }
  }
  void kill_and_start_with(const std::string& detector) {
    world.kill();
    world.detector = detector;
    INFO(world.failure);
    REQUIRE(world.boot(world.folder()));
  }
  [[nodiscard]] const core::Job& now() const { return *world.state().find_job(job); }
  [[nodiscard]] std::string judged_by() const { return world.state().find_worker(WorkerId(2))->track.detector; }
};

}  // namespace

TEST_CASE("a daemon with another straggler detector finds what the one of then has found, and goes on with its own") {
  SlowPair pair("median_ratio");
  pair.report(40);
  CHECK(pair.judged_by() == "median_ratio");
  for (const char* detector : {"z_score", "change_point", "median_ratio"}) {
    INFO(detector);
    const auto digest = pair.world.digest();
    const auto next_event = pair.world.state().next_event;
    pair.kill_and_start_with(detector);
    CHECK(pair.world.digest() == digest);
    CHECK(pair.world.state().next_event == next_event);
    pair.turn(pair.world.node.hello());
    CHECK(pair.world.state().straggler_detector == detector);
    pair.report(10);
    CHECK(pair.judged_by() == detector);
  }
}

TEST_CASE("a journal in which no detector is named is replayed by the configured one, which is named from then on") {
  SlowPair pair("");
  pair.report(40);
  CHECK(pair.judged_by() == "change_point");
  CHECK(pair.world.state().straggler_detector.empty());
  const auto digest = pair.world.digest();
  pair.kill_and_start_with("change_point");
  CHECK(pair.world.digest() == digest);
  pair.turn(pair.world.node.hello());
  CHECK(pair.world.state().straggler_detector == "change_point");
}

}  // namespace tidepool::test
