// Jobs in line that request particular nodes, by type, label, memory, price cap or topology: they start or grow there,
// or wait at one place for which other jobs release slots (room_on_nodes.hpp).
//
// Safe rules. A job waits at one place, and slots that are released there go to no other job; slots of other nodes go
// to the jobs behind it. No job waits, moves or is preempted for a job whose price cap excludes the nodes. Jobs that
// request only closed nodes wait without a search.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/pending_reasons.hpp"
#include "core/decide/reconcile/room_on_nodes.hpp"
#include "core/decide/reconcile/victims.hpp"
#include "core/decide/start_job.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

class NodeClaims {
 public:
  // All outlive it.
  NodeClaims(DecisionDraft& draft, Victims& victims, PendingReasons& pending)
      : draft_(draft),
        rule_(draft.active_policy().line_rule()),
        victims_(victims),
        pending_(pending),
        room_(draft, victims) {}

  // Handles a job that requests nodes, each of whose workers may be on any of these.
  void take_choosy(const TargetedJob& entry);
  // Handles a job with a topology rule. If it finds no room, the part that exists is reserved, and other jobs make
  // more.
  void take_by_rules(const TargetedJob& entry);
  // Handles a job with a price cap, as a job that requests the nodes within it.
  void take_within_cap(const TargetedJob& entry);
  // Workers of other jobs leave nodes for the job, or will: it waits for that, and this is recorded.
  bool waits_for_nodes(const TargetedJob& entry);
  // For workers of several slots, reserves room while the jobs in the way cannot be preempted yet. False: nothing is
  // reserved.
  bool keep_until_preemption(const Job& job);
  // Slots are reserved for workers that move.
  [[nodiscard]] bool keeps_for_movers() const { return room_.keeps_for_movers(); }

 private:
  // The place where a job waits, as a job that requests exactly that place.
  struct WaitsAt {
    Job asks;
    TypeRoom room;
    reason::WaitingForSlots lacks;
    [[nodiscard]] bool comes() const { return room.coming || !room.movers.empty(); }
  };
  std::optional<WaitsAt> find_place(const Job& job);
  std::vector<WaitsAt>::iterator make_room_at(std::vector<WaitsAt>& places);
  void wait_choosy(const TargetedJob& entry, const Job& asks);
  void grow_choosy(const TargetedJob& entry, const Job& claimant);
  void wait_by_rules(const TargetedJob& entry, const Job& asks);
  void wait_at(const Job& job, const WaitsAt& at);
  void keep_room(const Job& job);
  void leave_closed(const TargetedJob& entry);
  void leave_behind(const TargetedJob& entry);
  [[nodiscard]] Reason told_of(const Job& job, const TypeRoom& room, const reason::WaitingForSlots& lacks) const;
  [[nodiscard]] bool is_closed_for(const Job& job) const;

  DecisionDraft& draft_;
  LineRule rule_;
  Victims& victims_;
  PendingReasons& pending_;
  RoomOnNodes room_;
  std::set<NodeDemand> closed_for_;  // requested nodes of which none is open
  CappedStarts capped_starts_;
};

}  // namespace tidepool::core
