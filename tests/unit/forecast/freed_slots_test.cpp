#include "forecast/freed_slots.hpp"

#include <catch2/catch.hpp>

namespace tidepool::forecast {
namespace {

constexpr Instant kNow = Instant::from_micros(5'000'000);

// The worker of job-7 has slots 0 and 1 of node-1; the job has left the state.
core::ClusterState one_worker() {
  core::ClusterState state;
  state.workers.emplace(WorkerId(3),
                        core::Worker{.id = WorkerId(3), .job = JobId(7), .node = NodeId(1), .slots = {0, 1}});
  return state;
}

core::StartIntent start_of(JobId job, NodeId node, std::vector<int> slots) {
  return {.job = job, .joining_workers = {{.worker = WorkerId(4), .node = node, .slots = std::move(slots)}}};
}

TEST_CASE("a start that takes one of the slots that come free names the job that left them") {
  FreedSlots freed;
  freed.note(one_worker(), WorkerId(3), kNow);
  CHECK(freed.taken_by(start_of(JobId(8), NodeId(1), {1, 2}), kNow) == FreedBy{JobId(7), FreedBy::How::kEnds});
  CHECK_FALSE(freed.taken_by(start_of(JobId(8), NodeId(1), {2, 3}), kNow).has_value());
  CHECK_FALSE(freed.taken_by(start_of(JobId(8), NodeId(2), {0, 1}), kNow).has_value());
}

TEST_CASE("a job's own slots, and those that were free before, are no other's") {
  FreedSlots freed;
  const Instant later = kNow + Duration::seconds(1);
  CHECK_FALSE(freed.taken_by(start_of(JobId(8), NodeId(1), {0}), kNow).has_value());
  freed.note(one_worker(), WorkerId(3), kNow);
  CHECK_FALSE(freed.taken_by(start_of(JobId(7), NodeId(1), {0}), kNow).has_value());
  CHECK_FALSE(freed.taken_by(start_of(JobId(8), NodeId(1), {0}), later).has_value());
  freed.note(one_worker(), WorkerId(9), later);  // it has gone: nothing comes free by it
  CHECK_FALSE(freed.taken_by(start_of(JobId(8), NodeId(1), {0}), later).has_value());
}

}  // namespace
}  // namespace tidepool::forecast
