// Running jobs to which the plan gives nothing: which may give their slots to a job before them in line, in which order
// they are looked at, and which stay and why.
//
// Safe rules. One that may not be preempted, or not yet, stays, and so does one that ends sooner than it could be
// started again (job_work.hpp), unless for a higher priority. One that cannot change now gives way to what a guarantee
// covers alone. The operators' limits on preemption hold up what no guarantee covers
// (preemption_limits.hpp). While the pool's limit leaves fewer preemptions than the plan needs, shares decide which are
// let through (victim_order.hpp); else those last in the plan's order are looked at first, and among jobs of one tenant
// and priority those that would lose what they have done go last (change_costs.hpp).
// Where its tenant lets a program refuse, it is asked first; until all that are asked have answered, none of those that
// would leave together does.
// Slots of those that are taken are reserved with what comes free anyway, and no job is taken twice.
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
  // `releasing` outlives it: every job of which releases_slots() holds.
  Victims(DecisionDraft& draft, const IdSet<JobId>& releasing)
      : draft_(draft), releasing_(releasing), limits_(draft.state(), draft.now()) {}

  // In the plan's order. Requires: it can give up its slots, and its target is 0.
  void add(const TargetedJob& victim);
  // Once all are known: of jobs of one tenant and priority those that would lose no work are preempted first.
  void spare_unsaved();
  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  [[nodiscard]] const std::vector<TargetedJob>& all() const { return jobs_; }
  // There are jobs that may be preempted, or workers on their way out.
  [[nodiscard]] bool frees_slots() const { return !jobs_.empty() || !releasing_.empty(); }
  // That all of them together hold.
  [[nodiscard]] int slots_of_type(const std::string& type);

  // Jobs that the limits let a claimant preempt, or all that it could preempt without them.
  enum class By { kLimits, kNeed };
  // Jobs that may give way for the claim, as far as shares go, one after another until `look` says false.
  void look_at(const SlotsFor& claimant, By by, const std::function<bool(const TargetedJob&)>& look);
  [[nodiscard]] bool may_be_chosen(const Job& job, const SlotsFor& claimant, By by);
  [[nodiscard]] bool is_within_limit(const std::vector<TargetedJob>& chosen, const SlotsFor& claimant, By by);
  // It holds slots on a node on which the claimant may run.
  [[nodiscard]] bool is_in_way(const Job& job, const Job& claimant) const;
  // The claimant finds no room, and those that `helps` names would be preempted for it if they did not end soon.
  void note_missed(const Job& claimant, const std::function<bool(const Job&)>& helps);

  // Preempts these, or asks those that may refuse and have still to say.
  void take(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  [[nodiscard]] std::vector<TargetedJob> to_ask(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  [[nodiscard]] std::optional<Instant> refused_until(const Job& victim, const SlotsFor& claim);
  // It may give way though no claim needs its slots: no rule spares it, nor any limit.
  [[nodiscard]] bool may_leave_unclaimed(const Job& job);
  // Preempts it for no other job. Requires: may_leave_unclaimed().
  void end_unclaimed(const Job& job, const Reason& reason);
  // Jobs that were not preempted keep their slots for now.
  void keep_the_others();

  // Why no job is preempted for one that waits, though some could be: the limit that is lifted first.
  // None: some may be, or there are none. Follows from the jobs, and not from what slots are free or come free.
  [[nodiscard]] std::optional<Reason> why_held_up(const Job& claimant, int free);
  // As this decision has used them up so far.
  [[nodiscard]] PreemptionLimits& limits();

  // What is free or comes free, looked up when first a job does not fit.
  [[nodiscard]] SlotReservations& reservations();
  // They are again as they were.
  void restore(const SlotReservations& before) { reservations_.emplace(before); }
  void add_workers(const TargetedJob& victim, SlotReservations& reservations) const;
  // What comes free of these types is for another job.
  void close(const std::vector<std::string>& slot_types);
  // Likewise on nodes on which the job may run.
  void close_for(const Job& job);

 private:
  void forget_sums();
  [[nodiscard]] const std::vector<TargetedJob>& ending_jobs();
  // While the pool's limit is scarce.
  [[nodiscard]] std::vector<TargetedJob> by_shares(const SlotsFor& claimant);
  // The pool's limit lets some of them through only.
  [[nodiscard]] bool is_scarce();
  // What the plan gives each tenant.
  [[nodiscard]] const SlotsByTenant& planned();
  [[nodiscard]] bool may_be_preempted(const Job& job, const SlotsFor& claimant);
  [[nodiscard]] std::optional<BarredUntil> bar_between(const SlotsFor& claimant, const Job& victim);
  void ask(const TargetedJob& victim, JobId claimant);
  [[nodiscard]] bool lets_refuse(const Job& victim, const SlotsFor& claim);
  [[nodiscard]] bool is_missed(const Job& job) const;
  [[nodiscard]] Reason end_of(const Job& job) const;
  [[nodiscard]] std::optional<Reason> why_kept(const Job& job);

  DecisionDraft& draft_;
  const IdSet<JobId>& releasing_;
  std::vector<TargetedJob> jobs_;
  IdTable<JobId, IdSet<JobId>> ending_;  // that end soon, each with the jobs that needed its slots
  std::optional<SlotReservations> reservations_;
  PreemptionLimits limits_;
  std::optional<SlotsByTenant> planned_;  // none = not asked for yet
  // Of jobs_, where they were asked for since these changed: slots by type, and those that end soon.
  std::optional<std::map<std::string, int>> slots_of_type_;
  std::optional<std::vector<TargetedJob>> ending_jobs_;
};

// Drops each chosen victim without which the others are enough, the highest in the plan's order first. The newest
// stays: without it they were not enough.
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
