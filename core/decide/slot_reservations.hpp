// Slots that are free, or become free without a further decision, minus those reserved for waiting claims.
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

// Additional workers of a job, each a gang of slots on one node.
struct SlotClaim {
  int workers = 0;
  int slots_each = 1;
  // All on slots of one of these types; none = any type.
  std::optional<std::vector<std::string>> types = {};
  std::string type_reserved = {};  // the type on which it has reserved room
  [[nodiscard]] int slots() const { return workers * slots_each; }
};

// What a job without node constraints lacks to reach this size.
[[nodiscard]] SlotClaim claim_of(DecisionDraft& draft, const Job& job, int size);

// Some of its workers are leaving: their slots become free without a further decision.
[[nodiscard]] bool releases_slots(const ClusterState& state, const Job& job);
// These workers, of all these jobs.
[[nodiscard]] std::vector<WorkerId> on_their_way_out(const ClusterState& state, const IdSet<JobId>& releasing);

class SlotReservations {
 public:
  // `releasing`: every job for which releases_slots() is true.
  SlotReservations(DecisionDraft& draft, const IdSet<JobId>& releasing);

  // Counts the worker's slots as being released, unless the worker is on a lost node or held: when those become free is
  // unknown. Each worker counts once: a job that releases everything may already have leaving workers.
  void add(const Worker& worker);
  // Whether add() would change anything.
  [[nodiscard]] bool counts(const Worker& worker) const;
  // Slots of these types that are being released belong to another job.
  void close(const std::vector<std::string>& slot_types);
  // The same on nodes on which the job may run.
  void close_for(const Job& job);

  // Single slots beyond those that the claim needs; negative if there are too few.
  [[nodiscard]] int left_over(const SlotClaim& claim) const;
  [[nodiscard]] bool fits(const SlotClaim& claim) const;
  // How many workers like those of the claim fit on slots of this type.
  [[nodiscard]] int workers_on(const std::string& type, const SlotClaim& claim) const;
  // How many additional workers of a job with node constraints will fit on its nodes.
  [[nodiscard]] int workers_of(const Job& job) const;
  // Reserves room for the claim, if there is any.
  [[nodiscard]] bool reserve(SlotClaim& claim);
  // Releases what reserve() has reserved for a claim of single slots.
  void release(const SlotClaim& claim);
  // Single slots that are being released where the claim has reserved room, reserved ones included.
  [[nodiscard]] int coming_for(const SlotClaim& claim) const;
  // The nodes for the workers of a gang that holds nothing, at its smallest size, all on one slot type unless it mixes
  // them: those where the fewest of these slots have still to be released. Empty: not all of them fit.
  [[nodiscard]] WorkersOn nodes_for(const Job& gang) const;
  // Slots of the node that are free or being released.
  [[nodiscard]] int room_on(NodeId node) const;
  // Reserves this many of them, free ones first, against everything that this decision still places. Requires: there
  // are that many.
  void keep(NodeId node, int slots);
  // The same on the nodes that this many workers of a job with a topology rule would use. False: not all would fit
  // there.
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
