// Makes room for a job that requests particular nodes, or whose workers need several slots on one node.
//
// Safe rules. Only jobs that hold slots there are preempted (victims.hpp), and as few as make room; otherwise workers
// of other jobs move elsewhere (type_moves.hpp). If these find no room, and a guarantee of the type covers the claim,
// they are preempted, except for what their own tenants are guaranteed. No job moves for a running job.
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

  // For a waiting job. Requires: the reservations have too little room for it.
  TypeRoom make(const Job& claimant);
  // Whether as many additional workers as its smallest size will have room on the requested nodes, by preemption if
  // needed.
  bool make_to_grow(const Job& claimant);
  // For a gang with several slots per worker that finds no room because others cannot be preempted yet: reserves the
  // free slots where it will have room. False: there will be none.
  bool keep_until_they_may_be(const Job& gang);
  // Slots are reserved for workers that move.
  [[nodiscard]] bool keeps_for_movers() const { return keeps_for_movers_; }

 private:
  [[nodiscard]] std::vector<TargetedJob> victims_in_way(const Job& claimant);
  bool preempt_of(const std::vector<TargetedJob>& in_way, const Job& claimant);
  void make_room_elsewhere(const Job& claimant, int lacking);
  // Slots of open nodes on which the claimant may not run: held by the job, and being released by workers.
  [[nodiscard]] int held_elsewhere(const Job& job, const Job& claimant) const;
  [[nodiscard]] int coming_elsewhere(const Job& claimant) const;
  // If a guarantee of a type covers the claim, and moves do not help: jobs that continue but may run elsewhere release
  // slots there, and continue where there is room. False: none does.
  bool displace_for(const Job& claimant);
  [[nodiscard]] std::vector<TargetedJob> displaced_by(const Job& claimant);
  [[nodiscard]] std::vector<TargetedJob> spared(const std::vector<TargetedJob>& victims,
                                                const std::vector<TargetedJob>& displaced);

  DecisionDraft& draft_;
  Victims& victims_;
  bool keeps_for_movers_ = false;
};

}  // namespace tidepool::core
