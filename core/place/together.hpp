// Places a job's workers on as few nodes as possible: how few suffice, and which.
//
// Rule: a proposal uses only free slots, in addition to those of the job, and leaves as many of its workers where they
// are as such a layout allows. Deterministic: ties end at the lower node id.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/place/placement.hpp"

namespace tidepool::core {

using WorkersOn = std::map<NodeId, int>;  // > 0

[[nodiscard]] WorkersOn nodes_of(const ClusterState& state, const std::vector<WorkerId>& workers);
// This many additional workers of the job, on the nodes of its members first. `leaving`: members that leave for them.
[[nodiscard]] GangRequest gang_beside_members(const ClusterState& state, const Job& job, int workers,
                                              const std::vector<WorkerId>& leaving = {});

// The number of nodes needed if the largest allowed nodes were empty; 0 = there is none.
[[nodiscard]] int fewest_nodes(const FreeSlots& slots, const Job& job, int workers);
// Workers on this many nodes count as together: the fewest, and for larger numbers a quarter more.
[[nodiscard]] constexpr int nodes_together(int fewest) {
  return fewest + fewest / 4;
}

struct TogetherRequest {
  GangRequest gang;    // all workers that the job will have
  WorkersOn own = {};  // its present workers
  int nodes_max = 1;
  NodeId emptied = {};  // other jobs leave this node, which then has room for emptied_room more workers
  int emptied_room = 0;
};
// The number of workers on each node; none if they do not fit on that few nodes.
[[nodiscard]] std::optional<WorkersOn> lay_together(const FreeSlots& slots, const TogetherRequest& request);

}  // namespace tidepool::core
