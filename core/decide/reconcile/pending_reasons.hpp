// The jobs in line that could not start, in the order in which that was found, with what each of them lacks.
//
// Safe rules. Reasons are recorded once all slots are allocated, because only then it is known which jobs lack room
// where their state is, and which are blocked by the limits on preemption. A reason that a job already has is not
// recorded again. No decision depends on a reason; decisions use only the number of waiting jobs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"

namespace tidepool::core {

// The free slots for a job now, and what a waiting job lacks.
[[nodiscard]] inline int free_for(DecisionDraft& draft, const Job& job) {
  return std::max(0, std::min(draft.usable(), draft.free_slots().free_for(job)));
}
[[nodiscard]] inline reason::WaitingForSlots lacks_slots(DecisionDraft& draft, const Job& job) {
  return {.needed = job.spec.smallest_slots(), .free = free_for(draft, job)};
}

// A job that could not start, and what it lacks if it lacks only room.
struct WaitingJob {
  const Job* job;
  Finding lacks;
  const Target* target;  // the plan's target, recorded with it; null = none
};

class PendingReasons {
 public:
  explicit PendingReasons(DecisionDraft& draft) : draft_(draft), rule_(draft.active_policy().line_rule()) {}

  // The job waits for slots, and the jobs behind it come after it.
  void leave(const TargetedJob& entry, const Reason& lacks) {
    ++waiting_;
    const Target* told = rule_ == LineRule::kReserves ? entry.target : nullptr;
    left_.push_back({entry.job, {lacks, {BlockedOn::kSlots}}, told});
  }
  // The job waits for something else and is not counted.
  void add(WaitingJob job) { left_.push_back(std::move(job)); }
  // The next jobs in line, this many, continue to wait for the reasons that they already have.
  void pass_by(int jobs) { waiting_ += jobs; }
  // The number of jobs that could not start and do not wait for their state.
  [[nodiscard]] int waiting() const { return waiting_; }
  [[nodiscard]] bool any() const { return !left_.empty() || waiting_ > 0; }

  // Records all reasons. `held_up`: jobs that found no room because preemption is limited.
  void record(Victims& victims, const IdSet<JobId>& held_up);

 private:
  void record_held_up(Victims& victims, const IdSet<JobId>& held_up);

  DecisionDraft& draft_;
  LineRule rule_;
  std::vector<WaitingJob> left_;
  int waiting_ = 0;
};

}  // namespace tidepool::core
