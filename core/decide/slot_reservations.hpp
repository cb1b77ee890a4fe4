// Slots that are free, or will be without a further decision, less what is reserved for claims that wait for them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/place/together.hpp"

namespace tidepool::core {

// Workers that a job is to have more, each a gang of slots on one node.
struct SlotClaim {
  int workers = 0;
  int slots_each = 1;
  // All on slots of one of these types; none = wherever there is room.
  std::optional<std::vector<std::string>> types = {};
  std::string type_reserved = {};  // the one of them on which it has been given room
  [[nodiscard]] int slots() const { return workers * slots_each; }
};

// What a job that asks for no particular nodes lacks to this size.
[[nodiscard]] SlotClaim claim_of(DecisionDraft& draft, const Job& job, int size);

// Some of its workers are on their way out: their slots will be free without a further decision.
[[nodiscard]] bool releases_slots(const ClusterState& state, const Job& job);
// These workers, of all these jobs.
[[nodiscard]] std::vector<WorkerId> on_their_way_out(const ClusterState& state, const IdSet<JobId>& releasing);

class SlotReservations {
 public:
  // `releasing`: every job of which releases_slots() holds.
  SlotReservations(DecisionDraft& draft, const IdSet<JobId>& releasing);

  // The worker's slots come free, too, unless it is gone: when those do is not known. Counted once, however it is
  // found: a job that gives up everything may have leaving workers on their way already.
  void add(const Worker& worker);
  // Whether add() would change anything.
  [[nodiscard]] bool counts(const Worker& worker) const;
  // What comes free there is for another job.
  void close(const std::vector<std::string>& slot_types);
  // The same on nodes on which the job may run.
  void close_for(const Job& job);

  // Single slots beyond those that the claim needs; below 0 if there are too few.
  [[nodiscard]] int left_over(const SlotClaim& claim) const;
  [[nodiscard]] bool fits(const SlotClaim& claim) const;
  // How many workers like those of the claim there is room for on slots of this type.
  [[nodiscard]] int workers_on(const std::string& type, const SlotClaim& claim) const;
  // How many workers more of a job that asks for particular nodes there will be room for on these.
  [[nodiscard]] int workers_of(const Job& job) const;
  // Keeps room for the claim, if there is any.
  [[nodiscard]] bool reserve(SlotClaim& claim);
  // Gives back what reserve() has kept for a claim of single slots.
  void release(const SlotClaim& claim);
  // Single slots that come free where the claim has been given room, reserved ones too.
  [[nodiscard]] int coming_for(const SlotClaim& claim) const;
  // Where the workers of a gang that holds nothing go, at its smallest size, all on slots of one type unless it mixes
  // them: to nodes of which the fewest of these slots have still to come free. Empty: there is no room for all.
  [[nodiscard]] WorkersOn nodes_for(const Job& gang) const;
  // Slots of the node that are free or come free.
  [[nodiscard]] int room_on(NodeId node) const;
  // Keeps so many of them, free ones first, from all that this decision still places. Requires: there are as many.
  void keep(NodeId node, int slots);
  // Likewise on the nodes that so many workers of a job with rules would go to. False: not all would have room there.
  bool keep_for(const Job& job, int workers);

 private:
  [[nodiscard]] std::vector<RoomOnNode> rooms_for(const Job& job) const;
  [[nodiscard]] WorkersOn nodes_of_type(const Job& gang, const std::string* type) const;
  void close_where(const std::function<bool(const Node&)>& is_closed);
  [[nodiscard]] int freed_with_the_last(const Node& node) const;
  [[nodiscard]] std::optional<std::string> type_with_room(const SlotClaim& claim) const;

  DecisionDraft& draft_;
  IdSet<WorkerId> counted_;
  std::map<NodeId, int> coming_;
  int all_coming_ = 0;
  int reserved_ = 0;                        // by claims of single slots
  std::map<std::string, int> coming_of_;    // of all_coming_, by type
  std::map<std::string, int> reserved_of_;  // of reserved_, by type
};

}  // namespace tidepool::core
