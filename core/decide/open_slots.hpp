// How many more workers of a job that requests particular nodes fit there, on slots that are free or are being
// released. The counts are updated as further workers are assumed to leave, so that trying many victims costs one scan
// of the nodes and then one step per worker.
#pragma once

#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// The node is up, takes workers, has not been closed in this decision, is allowed for the job, and has enough slots for
// one of the job's workers.
[[nodiscard]] bool may_hold(DecisionDraft& draft, const Node& node, const Job& job);

// The worker's slots are being released: it is leaving already, or among those that leave now.
[[nodiscard]] bool comes_free(const ClusterState& state, const Worker& worker, const IdSet<WorkerId>& leaving);

class OpenSlots {
 public:
  // `leaving`: workers whose slots count as free; it outlives this.
  OpenSlots(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving);

  // release(): all workers of the job leave as well; take_back() undoes it. Requires: calls for a job alternate,
  // starting with release().
  void release(const Job& job) { shift(job, 1); }
  void take_back(const Job& job) { shift(job, -1); }

  // The waiting job fits at its smallest size.
  [[nodiscard]] bool fits() const { return (has_rule_ ? workers_by_rule() : workers_) >= needed_; }

 private:
  // Slots of a node.
  struct Place {
    int open = 0;     // free, or being released
    int staying = 0;  // held by workers that stay
    int kept = 0;     // free once no worker of an exclusive job is left there
    [[nodiscard]] int all_open() const { return open + (staying == 0 ? kept : 0); }
  };
  void shift(const Job& job, int sign);
  [[nodiscard]] int workers_on(const Place& place) const { return place.all_open() / each_; }
  [[nodiscard]] int workers_by_rule() const;

  const ClusterState& state_;
  const Job& waiting_;
  const IdSet<WorkerId>& leaving_;
  int each_;                       // slots of a worker
  int needed_;                     // workers
  bool has_rule_;                  // its topology constrains its workers together
  std::vector<NodeId> stay_;       // nodes that it already uses, as GangRequest::stay
  int workers_ = 0;                // that fit without the topology rule
  IdTable<NodeId, Place> places_;  // that may hold one
};

}  // namespace tidepool::core
