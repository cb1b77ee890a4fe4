// Reason data for a waiting job that requests particular nodes: how many there are, and which jobs hold their slots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// The nodes that are up, take new workers, and on which the job may run.
struct NodesAskedFor {
  int nodes = 0;
  int slots = 0;
  int free = 0;
  int holders = 0;     // jobs that hold the slots that are not free
  JobId holder;        // the job with most of them; none = no job
  JobId holder_after;  // the job with most of the rest
};
[[nodiscard]] NodesAskedFor nodes_asked_for(const ClusterState& state, const Job& job);

// Free slots on nodes on which the job may run, also where another job has a node to itself: of the type with most of
// them, unless it mixes types. `taken`: slots of these, by node, that are about to be used.
[[nodiscard]] int slots_free_for(const ClusterState& state, const Job& job, const std::map<NodeId, int>& taken = {});

// The reason of a job that would not start on an empty cluster, of which it could use `cluster` slots; `typed`: limited
// by its slot types. It might start if drained or unsteady nodes were included.
[[nodiscard]] Reason never_fits(const ClusterState& state, const Job& job, int cluster, bool typed);

// The maintenance window if it is the only cause of the node's drain. Requires: the node is being drained.
[[nodiscard]] std::optional<int> window_shown(const Node& node);

// It selects nodes by more than their type: by labels or memory.
[[nodiscard]] bool asks_by_labels_or_memory(const JobSpec& spec);
// Requested bytes of memory per slot; none: no request.
[[nodiscard]] std::optional<std::int64_t> memory_told(const JobSpec& spec);

// Updates the fields about nodes.
void tell_nodes(const NodesAskedFor& asked, reason::WaitingForNodes& why);

}  // namespace tidepool::core
