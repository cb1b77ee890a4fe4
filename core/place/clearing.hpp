// Which workers leave which nodes, so that a gang whose workers need several slots of one node each finds room where
// slots enough are free and lie scattered.
//
// Rule. Each worker goes to the node where what has to leave for it costs least; of equals to the lower node. None
// leaves for whose slots the others make up, and none at all unless every worker of the gang finds room.
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

// Of `leaving`, ascending; nothing if all of them are not enough. `open`: of every node on which the gang may be, its
// slots that are free or come free.
[[nodiscard]] std::optional<std::vector<std::size_t>> who_leaves(SlotsOn open,
                                                                 const std::vector<LeavingWorkers>& leaving,
                                                                 GangSize gang);

// Where the gang's workers are to be, on open slots: on nodes of which the fewest of these slots have still to come
// free. Fewer workers than the gang has if there is no room for more.
[[nodiscard]] WorkersOn nodes_kept_for(const SlotsOn& open, const SlotsOn& free, GangSize gang);

}  // namespace tidepool::core
