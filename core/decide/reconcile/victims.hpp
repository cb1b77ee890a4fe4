// Running jobs whose target is 0: which of them may be preempted for a job before them in line, in which order they are
// examined, and which keep their slots and why.
//
// Safe rules. A job that is not preemptible, or not yet, keeps its slots. So does a job that ends sooner than it could
// be started again (job_work.hpp), except for a higher priority. A job that cannot change now is preempted only for a
// claim covered by a guarantee. The operators' limits on preemption apply to claims that no guarantee covers
// (preemption_limits.hpp). While the pool's limit allows fewer preemptions than the plan needs, shares decide which are
// allowed (victim_order.hpp); otherwise the last jobs in the plan's order are examined first, and among jobs of one
// tenant and priority those that would lose unsaved work come last (change_costs.hpp).
// If its tenant lets a program refuse, the program is asked first; until all programs that were asked have answered,
// none of the jobs that would leave together leaves.
// The slots of chosen victims are reserved together with slots that are being released anyway; no job is chosen twice.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/tenants/preemption_limits.hpp"
#include "core/tenants/victim_order.hpp"

namespace tidepool::core {

class Victims {
 public:
  // `releasing` outlives it: every job for which releases_slots() is true.
  Victims(DecisionDraft& draft, const IdSet<JobId>& releasing)
      : draft_(draft), releasing_(releasing), limits_(draft.state(), draft.now()) {}

  // Call in the plan's order. Requires: it can release its slots, and its target is 0.
  void add(const TargetedJob& victim);
  // Call once all are added: among jobs of one tenant and priority those that would lose no work are preempted first.
  void keep_unsaved();
  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  [[nodiscard]] const std::vector<TargetedJob>& all() const { return jobs_; }
  // There are jobs that may be preempted, or workers that are leaving.
  [[nodiscard]] bool frees_slots() const { return !jobs_.empty() || !releasing_.empty(); }
  // The slots of this type that all of them hold together.
  [[nodiscard]] int slots_of_type(const std::string& type);

  // kLimits: jobs that the limits allow a claimant to preempt; kNeed: all that it could preempt without limits.
  enum class By { kLimits, kNeed };
  // Calls `look` with each job that may be preempted for the claim, as far as shares go, until it returns false.
  void look_at(const SlotsFor& claimant, By by, const std::function<bool(const TargetedJob&)>& look);
  [[nodiscard]] bool may_be_chosen(const Job& job, const SlotsFor& claimant, By by);
  [[nodiscard]] bool is_within_limit(const std::vector<TargetedJob>& chosen, const SlotsFor& claimant, By by);
  // It holds slots on a node on which the claimant may run.
  [[nodiscard]] bool is_in_way(const Job& job, const Job& claimant) const;
  // The claimant finds no room, and the jobs for which `helps` is true would be preempted for it if they did not end
  // soon.
  void note_missed(const Job& claimant, const std::function<bool(const Job&)>& helps);

  // Preempts these, or asks those that may refuse and have not answered.
  void take(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  [[nodiscard]] std::vector<TargetedJob> to_ask(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  [[nodiscard]] std::optional<Instant> refused_until(const Job& victim, const SlotsFor& claim);
  // It may be preempted though no claim needs its slots: no rule and no limit protects it.
  [[nodiscard]] bool may_leave_unclaimed(const Job& job);
  // Preempts it without a claimant. Requires: may_leave_unclaimed().
  void end_unclaimed(const Job& job, const Reason& reason);
  // Lets jobs that were not preempted keep their slots for now.
  void keep_the_others();

  // Why no job is preempted for a waiting job, though some could be: the limit that ends first. None: some may be, or
  // there are none. Depends on the jobs, and not on free slots.
  [[nodiscard]] std::optional<Reason> why_held_up(const Job& claimant, int free);
  // Including what this decision has used so far.
  [[nodiscard]] PreemptionLimits& limits();

  // Slots that are free or being released; computed when a job first does not fit.
  [[nodiscard]] SlotReservations& reservations();
  // Restores earlier reservations.
  void restore(const SlotReservations& before) { reservations_.emplace(before); }
  void add_workers(const TargetedJob& victim, SlotReservations& reservations) const;
  // Slots of these types that are being released belong to another job.
  void close(const std::vector<std::string>& slot_types);
  // The same on nodes on which the job may run.
  void close_for(const Job& job);

 private:
  void forget_sums();
  [[nodiscard]] const std::vector<TargetedJob>& ending_jobs();
  // While the pool's limit is scarce.
  [[nodiscard]] std::vector<TargetedJob> by_shares(const SlotsFor& claimant);
  // The pool's limit allows only some of them.
  [[nodiscard]] bool is_scarce();
  // The slots that the plan gives each tenant.
  [[nodiscard]] const SlotsByTenant& planned();
  [[nodiscard]] bool may_be_preempted(const Job& job, const SlotsFor& claimant);
  [[nodiscard]] std::optional<BarredUntil> bar_between(const SlotsFor& claimant, const Job& victim);
  void ask(const TargetedJob& victim, JobId claimant);
  [[nodiscard]] bool allows_refusal(const Job& victim, const SlotsFor& claim);
  [[nodiscard]] bool is_missed(const Job& job) const;
  [[nodiscard]] Reason end_of(const Job& job) const;
  [[nodiscard]] std::optional<Reason> why_kept(const Job& job);

  DecisionDraft& draft_;
  const IdSet<JobId>& releasing_;
  std::vector<TargetedJob> jobs_;
  IdTable<JobId, IdSet<JobId>> ending_;  // jobs that end soon, each with the jobs that needed its slots
  std::optional<SlotReservations> reservations_;
  PreemptionLimits limits_;
  std::optional<SlotsByTenant> planned_;  // none = not computed yet
  // Derived from jobs_, none = not computed since these changed: slots by type, and the jobs that end soon.
  std::optional<std::map<std::string, int>> slots_of_type_;
  std::optional<std::vector<TargetedJob>> ending_jobs_;
};

// Drops each chosen victim that the others make unnecessary, the highest in the plan's order first. The newest one
// stays: without it the others were not enough.
template <class Enough>
void drop_unneeded(std::vector<TargetedJob>& chosen, const Enough& enough) {
  if (chosen.size() < 2) return;
  for (std::size_t at = chosen.size() - 1; at-- > 0;) {
    std::vector<TargetedJob> others = chosen;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    if (enough(others)) chosen = std::move(others);
  }
}

}  // namespace tidepool::core
