// Room for a job in line wherever slots are: running jobs to which the plan gives nothing (victims.hpp) give up theirs.
//
// Safe rules. One is preempted only if another job needs its slots, and no more of them than that job needs: each that
// the others make up for is left alone. If all of them are not enough, none is.
#pragma once

#include <vector>

#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"
#include "core/decide/slot_reservations.hpp"

namespace tidepool::core {

class Preemption {
 public:
  // Both outlive it.
  Preemption(DecisionDraft& draft, Victims& victims) : draft_(draft), victims_(victims) {}

  // Preempts as few as the claim needs and reserves the room; none if all of them were not enough.
  bool make_room(const Job& claimant, SlotClaim& claim);
  // Of the workers that the job is to have more, as many as a guarantee covers, to one of its sizes.
  [[nodiscard]] int covered_workers(const Job& claimant, const SlotClaim& claim);
  // The claim has no room because of the limits alone.
  [[nodiscard]] bool is_held_up(const Job& claimant, const SlotClaim& claim);

 private:
  // Those that together make room, as few as the claim needs; none: all are not enough. Changes the reservations.
  [[nodiscard]] std::vector<TargetedJob> choose(const SlotsFor& claimant, const SlotClaim& claim, Victims::By by);
  // Not even all victims hold enough single slots of one of its types, so none of them is tried.
  [[nodiscard]] bool is_hopeless(const SlotClaim& claim);
  void drop_unneeded_for(const SlotClaim& claim, const SlotReservations& before, std::vector<TargetedJob>& chosen);
  [[nodiscard]] int freed_by(const Job& victim, const SlotClaim& claim, const SlotReservations& beside) const;

  DecisionDraft& draft_;
  Victims& victims_;
};

}  // namespace tidepool::core
