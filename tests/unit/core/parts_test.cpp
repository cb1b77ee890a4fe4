// The small parts: state table, means of throughput, placement.
#include "core/facts/throughput.hpp"
#include "core/place/placement.hpp"
#include "core/state/job_state.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

TEST_CASE("A final state is never left and is reached from every other") {
  for (int from = 0; from <= static_cast<int>(JobState::kCancelled); ++from) {
    const auto state = static_cast<JobState>(from);
    CHECK(core::may_become(state, JobState::kFailed) == !core::is_final(state));
  }
  CHECK_FALSE(core::may_become(JobState::kSucceeded, JobState::kPending));
  CHECK_FALSE(core::may_become(JobState::kPending, JobState::kResizing));
  CHECK_FALSE(core::may_become(JobState::kSuspended, JobState::kRunning));
}

core::StepsMeasured report(std::int64_t steps, double step_seconds) {
  core::StepsMeasured fact;
  fact.steps = steps;
  fact.last_step = steps;
  fact.elapsed = Duration::from_seconds(step_seconds * static_cast<double>(steps));
  fact.samples = 100 * steps;
  return fact;
}

TEST_CASE("New measurements outweigh old ones, and the more the older they are") {
  core::SizeRecord fresh;
  const Instant start = Instant::from_micros(0);
  core::add_measurement(fresh, report(1000, 1.0), 1000, start);
  core::SizeRecord stale = fresh;
  core::add_measurement(fresh, report(20, 2.0), 20, start + Duration::seconds(1));
  CHECK(fresh.step_seconds == Approx(1.0 + 20.0 / 120.0));
  core::add_measurement(stale, report(20, 2.0), 20, start + core::kMemoryHalfLife * 3);
  CHECK(stale.step_seconds == Approx(1.0 + 20.0 / 32.5));
  CHECK(stale.steps == 1020);
  CHECK(stale.samples_per_second < 100);
}

TEST_CASE("A rate is the samples of all steps over the time of all steps, however fast single reports were") {
  core::SizeRecord record;
  core::add_measurement(record, report(10, 0.1), 10, Instant::from_micros(0));
  core::add_measurement(record, report(10, 0.9), 10, Instant::from_micros(0));
  CHECK(record.step_seconds == Approx(0.5));
  CHECK(record.samples_per_second == Approx(200));  // 2,000 samples in 10 s; the mean of the two rates is 556
}

TEST_CASE("A size is measured from the first step on that its job asks for") {
  core::Job job;
  job.spec.scaling.every_steps = 20;
  core::SizeRecord record;
  CHECK(!core::is_measured(record, job));
  core::add_measurement(record, report(19, 1.0), 19, Instant::from_micros(0));
  CHECK(!core::is_measured(record, job));
  core::add_measurement(record, report(1, 1.0), 1, Instant::from_micros(0));
  CHECK(core::is_measured(record, job));
}

TEST_CASE("Only the report that holds the switch step leaves a step out") {
  auto fact = report(5, 0.1);
  fact.last_step = 14;
  CHECK(core::counted_steps(fact, 10) == 4);
  CHECK(core::counted_steps(fact, 9) == 5);
}

TEST_CASE("Statistical efficiency compares the present batch with the one that was asked for") {
  core::Job job;
  job.spec.batch.global = 100;
  job.progress.global_batch = 300;
  CHECK(!core::statistical_efficiency(job));
  job.progress.noise_scale = 100;
  CHECK(*core::statistical_efficiency(job) == 0.5);  // 200 / 400
  job.progress.global_batch = 100;
  CHECK(*core::statistical_efficiency(job) == 1);
  job.progress.noise_scale = 0;
  job.progress.global_batch = 400;
  CHECK(*core::statistical_efficiency(job) == 0.25);
}

TEST_CASE("Slots that are taken are gone, and a gang takes the emptiest node first") {
  Story story;
  story.node(2);
  story.node(4);
  core::FreeSlots free(story.state());
  std::uint64_t next = 1;
  const auto gang = free.take({.workers = 3, .slots_per_worker = 2}, next);
  REQUIRE(gang);
  CHECK(free.free() == 0);
  CHECK(next == 4);
  CHECK((*gang)[0].slots == std::vector{0, 1});
  CHECK((*gang)[1].slots == std::vector{2, 3});
  CHECK((*gang)[2].node == NodeId(1));
  CHECK_FALSE(free.take({.workers = 1}, next));
}

TEST_CASE("What fits on one node goes to the smallest hole that takes it all") {
  Story story;
  story.node(1);
  story.node(4);
  story.node(2);
  core::FreeSlots free(story.state());
  std::uint64_t next = 1;
  const auto two = free.take({.workers = 2}, next);
  for (const auto& placement : *two) CHECK(placement.node == NodeId(3));
  CHECK(free.take({.workers = 1}, next)->front().node == NodeId(1));
  const auto three = free.take({.workers = 3}, next);
  for (const auto& placement : *three) CHECK(placement.node == NodeId(2));
}

TEST_CASE("Nodes that are too dear are left alone, whatever holes they have") {
  Story story;
  story.node(1, "dear", {}, Money::micros(3'000'000));
  story.node(4, "cheap", {}, Money::micros(1'000'000));
  core::FreeSlots free(story.state());
  std::uint64_t next = 1;
  core::GangRequest gang{.workers = 2, .slots_per_worker = 1};
  gang.price_max = Money::micros(2'000'000);
  CHECK(free.room_for(1) == 5);
  CHECK(free.room_for(gang) == 4);
  const auto placed = free.take(gang, next);
  REQUIRE(placed);
  for (const auto& placement : *placed) CHECK(placement.node == NodeId(2));
  gang.workers = 3;
  CHECK_FALSE(free.take(gang, next));
}

TEST_CASE("A gang goes only where slots are of a type that its job asks for") {
  Story story;
  story.learn(core::NodeJoined{NodeId(1), "old", 4, "v100", Money(), {}});
  story.learn(core::NodeJoined{NodeId(2), "new", 4, "h100", Money(), {}});
  core::FreeSlots free(story.state());
  std::uint64_t next = 1;
  core::GangRequest gang{.workers = 2, .slots_per_worker = 1};
  gang.slot_types = {"a100", "h100"};
  CHECK(free.room_for(gang) == 4);
  core::Job job;
  CHECK(free.free_for(job) == 8);
  job.spec.slot_types = gang.slot_types;
  job.spec.gpus_per_worker = 2;
  job.spec.mixed_types = true;
  CHECK(free.free_for(job) == 4);
  CHECK(core::empty_cluster_capacity(story.state(), job) == 2);
  const auto placed = free.take(gang, next);
  REQUIRE(placed);
  for (const auto& placement : *placed) CHECK(placement.node == NodeId(2));
  gang.prefer = {NodeId(1)};
  gang.first_on = NodeId(1);
  CHECK(free.take(gang, next)->front().node == NodeId(2));
  CHECK_FALSE(free.take(gang, next));
  CHECK(free.free_for(job) == 0);
}

TEST_CASE("A node to avoid is used only when nothing else has room") {
  Story story;
  story.node(1);
  story.node(1);
  core::FreeSlots free(story.state());
  std::uint64_t next = 1;
  const core::GangRequest elsewhere{.avoid = NodeId(1)};
  CHECK(free.take(elsewhere, next)->front().node == NodeId(2));
  CHECK(free.take(elsewhere, next)->front().node == NodeId(1));
}

}  // namespace
}  // namespace tidepool::test
