// Running jobs to which the plan gives nothing: which give their slots to a job before them in line, and which stay.
//
// Safe rules. One is preempted only if another job needs its slots, and no more of them than that job needs: those last
// in the plan's order are looked at first, and each that the others make up for is left alone. One that may not be
// preempted, or not yet, stays, and so does one that ends sooner than it could be started again (job_work.hpp), unless
// for a higher priority. The operators' limits on preemption hold up what no guarantee covers (preemption_limits.hpp).
// While the pool's limit leaves fewer preemptions than the plan needs, shares decide which are let through
// (victim_order.hpp).
// Where its tenant lets a program refuse, it is asked first; until all that are asked have answered, none of those that
// would leave together does.
// Among jobs of one tenant and priority those that would lose what they have done go last (change_costs.hpp).
// For a job that asks for particular nodes only those are preempted that hold slots there; else workers of others move
// elsewhere (type_moves.hpp). Where these find no room, and a guarantee of the type covers the claim, they are
// preempted, but for what their own tenants are guaranteed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/open_slots.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/decide/type_moves.hpp"
#include "core/tenants/preemption_limits.hpp"
#include "core/tenants/victim_order.hpp"

namespace tidepool::core {

class Preemption {
 public:
  // `releasing` outlives it: every job of which releases_slots() holds.
  Preemption(DecisionDraft& draft, const IdSet<JobId>& releasing)
      : draft_(draft), releasing_(releasing), limits_(draft.state(), draft.now()) {}

  // In the plan's order. Requires: it runs, can change now, and its target is 0.
  void add(const TargetedJob& victim);
  // Once all are known: of jobs of one tenant and priority those that would lose no work are preempted first.
  void spare_unsaved();

  // Preempts as few as the claim needs and reserves the room; none if all of them were not enough.
  bool make_room(const Job& claimant, SlotClaim& claim);
  // Of the workers that the job is to have more, as many as a guarantee covers, to one of its sizes.
  [[nodiscard]] int covered_workers(const Job& claimant, const SlotClaim& claim);
  // The same for a job that asks for particular nodes and waits. Requires: reservations() have too little room for it.
  TypeRoom make_room_on_nodes(const Job& claimant);
  // Whether so many workers as its smallest size more will have room on the nodes that it asks for, by preemption if it
  // has to be: no other job moves for one that runs.
  bool make_room_to_grow(const Job& claimant);
  // For a gang of several slots a worker that finds no room, as others may not be preempted yet: what is free where it
  // will have room then is kept for it. False: it will have none.
  bool keep_until_they_may_be(const Job& gang);
  // There are jobs that may be preempted, or workers on their way out.
  [[nodiscard]] bool frees_slots() const { return !victims_.empty() || !releasing_.empty(); }
  // Slots are kept for workers that move.
  [[nodiscard]] bool keeps_for_movers() const { return keeps_for_movers_; }

  // The claim has no room because of the limits alone.
  [[nodiscard]] bool is_held_up(const Job& claimant, const SlotClaim& claim);
  // Why no job is preempted for one that waits, though some could be: the limit that is lifted first.
  // None: some may be, or there are none. Follows from the jobs, and not from what slots are free or come free.
  [[nodiscard]] std::optional<Reason> why_held_up(const Job& claimant, int free);
  // As this decision has used them up so far.
  [[nodiscard]] PreemptionLimits& limits();

  // Jobs that were not preempted keep their slots for now.
  void keep_the_others();

  [[nodiscard]] SlotReservations& reservations();
  // What comes free of these types is for another job.
  void close(const std::vector<std::string>& slot_types);
  // Likewise on nodes on which the job may run.
  void close_for(const Job& job);

 private:
  // Jobs that the limits let it preempt, or all that it could preempt without them.
  enum class By { kLimits, kNeed };
  // Those that together make room, as few as the claim needs; none: all are not enough. Changes the reservations.
  [[nodiscard]] std::vector<TargetedJob> choose(const SlotsFor& claimant, const SlotClaim& claim, By by);
  // Jobs that may give way for the claim, as far as shares go, one after another until `look` says false.
  void look_at_victims(const SlotsFor& claimant, By by, const std::function<bool(const TargetedJob&)>& look);
  // While the pool's limit is scarce.
  [[nodiscard]] std::vector<TargetedJob> by_shares(const SlotsFor& claimant);
  // The pool's limit lets some of them through only.
  [[nodiscard]] bool is_scarce();
  // What the plan gives each tenant.
  [[nodiscard]] const SlotsByTenant& planned();
  [[nodiscard]] bool may_be_chosen(const Job& job, const SlotsFor& claimant, By by);
  [[nodiscard]] bool is_within_limit(const std::vector<TargetedJob>& chosen, const SlotsFor& claimant, By by);
  [[nodiscard]] std::optional<BarredUntil> bar_between(const SlotsFor& claimant, const Job& victim);
  // Not even all victims hold enough single slots of one of its types, so none of them is tried.
  [[nodiscard]] bool is_hopeless(const SlotClaim& claim);
  [[nodiscard]] const std::vector<TargetedJob>& ending_victims();
  void forget_sums();
  template <class Enough>
  static void drop_unneeded(std::vector<TargetedJob>& chosen, const Enough& enough);
  void drop_unneeded(std::vector<TargetedJob>& chosen, const SlotClaim& claim, const SlotReservations& before);
  static void drop_unneeded(std::vector<TargetedJob>& chosen, OpenSlots& open);
  [[nodiscard]] std::vector<TargetedJob> victims_in_way(const Job& claimant);
  bool preempt_of(const std::vector<TargetedJob>& in_way, const Job& claimant);
  void make_room_elsewhere(const Job& claimant, int lacking);
  // Slots of nodes that take workers and on which the claimant may not run: that the job holds, and that workers leave.
  [[nodiscard]] int held_elsewhere(const Job& job, const Job& claimant) const;
  [[nodiscard]] int coming_elsewhere(const Job& claimant) const;
  // Where a guarantee of a type covers what the claimant waits for, and moves do not help: jobs that are to go on but
  // may be elsewhere give up slots there, and go on where there is room. False: none does.
  bool displace_for(const Job& claimant);
  [[nodiscard]] std::vector<TargetedJob> displaced_by(const Job& claimant);
  [[nodiscard]] std::vector<TargetedJob> spared(const std::vector<TargetedJob>& victims,
                                                const std::vector<TargetedJob>& displaced);
  [[nodiscard]] int freed_by(const Job& victim, const SlotClaim& claim, const SlotReservations& beside) const;
  void add_workers(const TargetedJob& victim, SlotReservations& reservations) const;
  [[nodiscard]] bool is_in_way(const Job& job, const Job& claimant) const;
  [[nodiscard]] bool may_be_preempted(const Job& job, const Job& claimant) const;
  template <class Helps>
  void note_missed(const Job& claimant, const Helps& helps);
  // Preempts these, or asks those that may refuse and have still to say.
  void take(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  [[nodiscard]] std::vector<TargetedJob> to_ask(const std::vector<TargetedJob>& chosen, const SlotsFor& claim);
  void ask(const TargetedJob& victim, JobId claimant);
  [[nodiscard]] bool lets_refuse(const Job& victim, const SlotsFor& claim);
  [[nodiscard]] std::optional<Instant> refused_until(const Job& victim, const SlotsFor& claim);
  [[nodiscard]] bool is_missed(const Job& job) const;
  [[nodiscard]] Reason end_of(const Job& job) const;
  [[nodiscard]] std::optional<Reason> why_kept(const Job& job);

  DecisionDraft& draft_;
  const IdSet<JobId>& releasing_;
  std::vector<TargetedJob> victims_;
  IdTable<JobId, IdSet<JobId>> ending_;           // that end soon, each with the jobs that needed its slots
  std::optional<SlotReservations> reservations_;  // looked up when first a job does not fit
  bool keeps_for_movers_ = false;
  PreemptionLimits limits_;
  std::optional<SlotsByTenant> planned_;  // none = not asked for yet
  // Of victims_, where they were asked for since these changed: slots by type, and those that end soon.
  std::optional<std::map<std::string, int>> victim_slots_;
  std::optional<std::vector<TargetedJob>> ending_victims_;
};

}  // namespace tidepool::core
