// The jobs in line that could not start, in the order in which that was found, and what each of them lacks.
//
// Safe rules. Reasons are told once all slots are handed out, as only then it is known which jobs lack room where their
// state lies, and which are held up by the limits on preemption. What is said of a job already is not told again. No
// decision follows from a reason: what does is how many jobs wait.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"

namespace tidepool::core {

// Slots that a job finds now, and what a waiting one lacks.
[[nodiscard]] inline int free_for(DecisionDraft& draft, const Job& job) {
  return std::max(0, std::min(draft.usable(), draft.free_slots().free_for(job)));
}
[[nodiscard]] inline reason::WaitingForSlots lacks_slots(DecisionDraft& draft, const Job& job) {
  return {.needed = job.spec.smallest_slots(), .free = free_for(draft, job)};
}

// A job that could not start, with what it lacks if that is room alone.
struct WaitingJob {
  const Job* job;
  Finding lacks;
  const Target* target;  // a plan's, which is told with it; null = nothing
};

class PendingReasons {
 public:
  explicit PendingReasons(DecisionDraft& draft) : draft_(draft), rule_(draft.active_policy().line_rule()) {}

  // It waits for slots, and those behind it come after it.
  void leave(const TargetedJob& entry, const Reason& lacks) {
    ++waiting_;
    const Target* told = rule_ == LineRule::kReserves ? entry.target : nullptr;
    left_.push_back({entry.job, {lacks, {BlockedOn::kSlots}}, told});
  }
  // It waits for something of its own, and is not counted.
  void add(WaitingJob job) { left_.push_back(std::move(job)); }
  // So many jobs that come next in line go on waiting, for the reasons that they already have.
  void pass_by(int jobs) { waiting_ += jobs; }
  // Could not start and do not wait for their state.
  [[nodiscard]] int waiting() const { return waiting_; }
  [[nodiscard]] bool any() const { return !left_.empty() || waiting_ > 0; }

  // Tells all of them. `held_up`: jobs that found no room while preemption is limited.
  void record(Victims& victims, const IdSet<JobId>& held_up);

 private:
  void tell_held_up(Victims& victims, const IdSet<JobId>& held_up);

  DecisionDraft& draft_;
  LineRule rule_;
  std::vector<WaitingJob> left_;
  int waiting_ = 0;
};

}  // namespace tidepool::core
