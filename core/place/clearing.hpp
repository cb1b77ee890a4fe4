// Chooses which workers leave which nodes, so that a gang whose workers need several slots on one node each finds room
// where enough slots are free but scattered.
//
// Rule. Each worker of the gang goes to the node where the leaving workers cost least; among equals to the lower node.
// No worker leaves whose slots are not needed, and none at all unless every worker of the gang finds room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/place/together.hpp"

namespace tidepool::core {

using SlotsOn = std::map<NodeId, int>;

// Workers of one job that leave together.
struct LeavingWorkers {
  SlotsOn held;
  double cost_s = 0;  // slot-seconds
};

struct GangSize {
  int workers = 1;
  int slots_each = 1;
};

// Indices into `leaving`, ascending; none if all of them are not enough. `open`: the free and released slots of every
// node on which the gang may be.
[[nodiscard]] std::optional<std::vector<std::size_t>> who_leaves(SlotsOn open,
                                                                 const std::vector<LeavingWorkers>& leaving,
                                                                 GangSize gang);

// The nodes of the gang's workers, on open slots: nodes where the fewest of these slots have still to be released.
// Fewer workers than the gang has if there is no room for more.
[[nodiscard]] WorkersOn nodes_kept_for(const SlotsOn& open, const SlotsOn& free, GangSize gang);

}  // namespace tidepool::core
