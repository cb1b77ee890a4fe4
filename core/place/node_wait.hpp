// What is told of a job that waits and asks for particular nodes: how many there are, and which jobs hold their slots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Nodes that are up, take new workers, and on which the job may run.
struct NodesAskedFor {
  int nodes = 0;
  int slots = 0;
  int free = 0;
  int holders = 0;     // jobs that hold the others
  JobId holder;        // holds most of them; none = no job does
  JobId holder_after;  // holds most of the rest
};
[[nodiscard]] NodesAskedFor nodes_asked_for(const ClusterState& state, const Job& job);

// Slots that are free on nodes on which the job may run, also where another job has a node to itself: of the type with
// most, unless it mixes types. `taken`: of these, by node, that are about to be used.
[[nodiscard]] int slots_free_for(const ClusterState& state, const Job& job, const std::map<NodeId, int>& taken = {});

// It would not start on an empty cluster, of whose slots it could have so many; `typed`: as its types of slot bound it.
// It may be that it would on one with the nodes that are being drained, or that are unsteady.
[[nodiscard]] Reason never_fits(const ClusterState& state, const Job& job, int cluster, bool typed);

// The maintenance window that alone keeps the node drained. Requires: it is being drained.
[[nodiscard]] std::optional<int> window_told(const Node& node);

// It asks for nodes by what they are, beside their type: by labels or memory.
[[nodiscard]] bool asks_by_labels_or_memory(const JobSpec& spec);
// Bytes a slot that it asks for; none: it asks for none.
[[nodiscard]] std::optional<std::int64_t> memory_told(const JobSpec& spec);

// Brings up to date what tells of the nodes.
void tell_nodes(const NodesAskedFor& asked, reason::WaitingForNodes& why);

}  // namespace tidepool::core
