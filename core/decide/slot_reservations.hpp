// Slots that are free, or will be without a further decision, less what is reserved for claims that wait for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Workers that a job is to have more, each a gang of slots on one node.
struct SlotClaim {
  int workers = 0;
  int slots_each = 1;
  [[nodiscard]] int slots() const { return workers * slots_each; }
};

// Some of its workers are on their way out: their slots will be free without a further decision.
[[nodiscard]] bool releases_slots(const ClusterState& state, const Job& job);

class SlotReservations {
 public:
  // `releasing`: every job of which releases_slots() holds.
  SlotReservations(DecisionDraft& draft, const IdSet<JobId>& releasing);

  // The worker's slots come free, too. Counted once, however it is found: a job that gives up everything may have
  // leaving workers on their way already.
  void add(const Worker& worker);
  // What comes free there is for another job.
  void close(const std::vector<std::string>& slot_types);

  // Single slots beyond those that the claim needs; below 0 if there are too few.
  [[nodiscard]] int left_over(const SlotClaim& claim) const;
  [[nodiscard]] bool fits(const SlotClaim& claim) const;
  // Keeps room for the claim, if there is any.
  [[nodiscard]] bool reserve(const SlotClaim& claim);

 private:
  [[nodiscard]] int room_on(NodeId node) const;

  DecisionDraft& draft_;
  IdSet<WorkerId> counted_;
  std::map<NodeId, int> coming_;
  int all_coming_ = 0;
  int reserved_ = 0;  // by claims of single slots
};

}  // namespace tidepool::core
