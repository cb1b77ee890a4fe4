// Makes room for a job in line on any nodes by preempting running jobs whose target is 0 (victims.hpp).
//
// Safe rules. A job is preempted only if another job needs its slots, and no more jobs than that job needs: each victim
// that the others make unnecessary is kept. If all victims are not enough, none is preempted.
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

  // Preempts as few jobs as the claim needs and reserves the room; preempts none if all of them are not enough.
  bool make_room(const Job& claimant, SlotClaim& claim);
  // How many of the job's additional workers a guarantee covers, rounded down to one of its sizes.
  [[nodiscard]] int covered_workers(const Job& claimant, const SlotClaim& claim);
  // The claim has no room only because of the limits on preemption.
  [[nodiscard]] bool is_held_up(const Job& claimant, const SlotClaim& claim);

 private:
  // The fewest victims that together make room; empty: all are not enough. Changes the reservations.
  [[nodiscard]] std::vector<TargetedJob> choose(const SlotsFor& claimant, const SlotClaim& claim, Victims::By by);
  // All victims together hold too few single slots of one of its types, so none of them is tried.
  [[nodiscard]] bool is_hopeless(const SlotClaim& claim);
  void drop_unneeded_for(const SlotClaim& claim, const SlotReservations& before, std::vector<TargetedJob>& chosen);
  [[nodiscard]] int freed_by(const Job& victim, const SlotClaim& claim, const SlotReservations& beside) const;

  DecisionDraft& draft_;
  Victims& victims_;
};

}  // namespace tidepool::core
