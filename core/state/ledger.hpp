// What the slots of a job were used for: useful steps, or an overhead (overheads.hpp). The time of workers that do not
// step is booked when it is charged. What only a report reveals (a stall, lost steps) is moved from the time booked as
// useful before, never more than that. So the parts of an account are never negative and add up to its total.
#pragma once

#include <cstdint>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Slots of workers that count as available (Worker::is_gone), and their cost per hour.
struct HeldSlots {
  std::int64_t slots = 0;
  Money rate;
};
[[nodiscard]] HeldSlots held_slots(const ClusterState& state, const Job& job, auto&& takes) {
  HeldSlots held;
  for (const WorkerId id : job.membership.workers) {
    const Worker* worker = state.find_worker(id);
    const Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
    if (node == nullptr || worker->is_gone() || !takes(*worker)) continue;
    const auto slots = static_cast<std::int64_t>(worker->slots.size());
    held.slots += slots;
    held.rate += Money::micros(node->price_per_slot_hour.count_micros() * slots);
  }
  return held;
}

// Determines which workers take part in the steps of their job now. The job outlives it and does not change.
class Stepping {
 public:
  explicit Stepping(const Job& job);
  [[nodiscard]] bool operator()(const Worker& worker) const;

 private:
  const Membership& membership_;
  IdSet<WorkerId> joining_;
  IdSet<WorkerId> leaving_;
};

// The part of the account that is no overhead.
[[nodiscard]] Used useful_of(const Account& account);

// The workers that step stood still, or waited, for that long: this time was not useful and is booked as the overhead.
void book_wait(const ClusterState& state, Job& job, Duration lasted, Overhead overhead);

// The state after `step` steps was saved: a later loss affects only work done after it.
void book_saved(Job& job, std::int64_t step);
// Like book_saved(), because the job releases its slots: it saves in time.
void book_saved_on_leaving(Job& job, std::int64_t step);
// The job continues from `step`, and had counted more before. Requires: progress.step is what it had counted.
void book_lost_steps(Job& job, std::int64_t step);
// The members step together: a restart after this has a new cause.
void book_stepping(Job& job);

}  // namespace tidepool::core
