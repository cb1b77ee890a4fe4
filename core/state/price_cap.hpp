// Which slots a job's price cap permits. All code that plans, places, promises and buys slots uses one rule: the money
// that the cap leaves is divided evenly among the slots that the job should gain, and more expensive nodes are not
// used. At its smallest size the job may use the most nodes, so a capped job can never be on any other node.
#pragma once

#include <optional>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// What each of `slots` additional slots may cost per hour, given the slots that the job holds, and never more than at
// its smallest size; none: the job has no cap.
[[nodiscard]] std::optional<Money> slot_price_max(const ClusterState& state, const Job& job, int slots);
// The same for its smallest size, if it holds no slots.
[[nodiscard]] std::optional<Money> slot_price_max(const Job& job);

// The highest slot price among nodes that accept workers; 0 if there are none.
[[nodiscard]] Money dearest_slot(const ClusterState& state);
// The job's cap excludes slots at this price.
[[nodiscard]] bool is_too_dear_for(const Job& job, Money price);
// Some nodes that accept workers are too expensive for the job (`dearest`: the highest slot price among them): like a
// job that names nodes, it requests the other nodes. False while the job holds slots that have become too expensive
// themselves: it must first release some.
[[nodiscard]] bool is_bound_by_cap(const ClusterState& state, const Job& job, Money dearest);
// The job requests particular nodes: by their properties, or because of its cap.
[[nodiscard]] bool asks_for_nodes(const ClusterState& state, const Job& job, Money dearest);
// The job may run on the node, and at its smallest size the node is within its cap.
[[nodiscard]] bool may_run_within_cap(const Job& job, const Node& node);

}  // namespace tidepool::core
