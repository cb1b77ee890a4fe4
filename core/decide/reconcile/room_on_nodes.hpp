// Room for a job that asks for particular nodes, or whose workers need several slots of one.
//
// Safe rules. Only those are preempted (victims.hpp) that hold slots there, and as few as make room; else workers of
// others move elsewhere (type_moves.hpp). Where these find no room, and a guarantee of the type covers the claim, they
// are preempted, but for what their own tenants are guaranteed. No job moves for one that runs.
#pragma once

#include <vector>

#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"
#include "core/decide/type_moves.hpp"

namespace tidepool::core {

class RoomOnNodes {
 public:
  // Both outlive it.
  RoomOnNodes(DecisionDraft& draft, Victims& victims) : draft_(draft), victims_(victims) {}

  // For one that waits. Requires: the reservations have too little room for it.
  TypeRoom make(const Job& claimant);
  // Whether so many workers as its smallest size more will have room on the nodes that it asks for, by preemption if it
  // has to be.
  bool make_to_grow(const Job& claimant);
  // For a gang of several slots a worker that finds no room, as others may not be preempted yet: what is free where it
  // will have room then is kept for it. False: it will have none.
  bool keep_until_they_may_be(const Job& gang);
  // Slots are kept for workers that move.
  [[nodiscard]] bool keeps_for_movers() const { return keeps_for_movers_; }

 private:
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

  DecisionDraft& draft_;
  Victims& victims_;
  bool keeps_for_movers_ = false;
};

}  // namespace tidepool::core
