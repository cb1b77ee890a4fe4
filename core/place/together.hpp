// A job's workers on as few nodes as possible: how few would do, and where they would be.
//
// Rule: what is proposed takes free slots only, beside those of the job itself, and leaves as many of its workers where
// they are as such a layout allows. Deterministic: ties end at the lower node id.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/place/placement.hpp"

namespace tidepool::core {

using WorkersOn = std::map<NodeId, int>;  // > 0

[[nodiscard]] WorkersOn nodes_of(const ClusterState& state, const std::vector<WorkerId>& workers);
// So many more workers of the job, on the nodes of its members first. `leaving`: members that leave for them.
[[nodiscard]] GangRequest gang_beside_members(const ClusterState& state, const Job& job, int workers,
                                              const std::vector<WorkerId>& leaving = {});

// On the largest nodes on which the job may run, if they were empty; 0 = there is none.
[[nodiscard]] int fewest_nodes(const FreeSlots& slots, const Job& job, int workers);
// Workers on so many nodes count as together: on the fewest, and where these are many, on a quarter more.
[[nodiscard]] constexpr int nodes_together(int fewest) {
  return fewest + fewest / 4;
}

struct TogetherRequest {
  GangRequest gang;    // all workers that the job is to have
  WorkersOn own = {};  // where it has some now
  int nodes_max = 1;
  NodeId emptied = {};  // other jobs leave this node, so that it has room for so many workers beside the job's own
  int emptied_room = 0;
};
// How many workers are to be on which node; nothing if they find no room on so few nodes.
[[nodiscard]] std::optional<WorkersOn> lay_together(const FreeSlots& slots, const TogetherRequest& request);

}  // namespace tidepool::core
