// Which slots a job's price cap lets it have. All that plans, places, promises and buys slots goes by one rule: what
// the cap leaves is shared out evenly among the slots that the job is to have more, and nodes that are dearer are not
// used. At its smallest size it may be on most nodes, so these are the ones that a capped job can be on at all.
#pragma once

#include <optional>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// What each of so many slots more may cost for an hour, beside what it holds, and never more than at its smallest size;
// none: the job has no cap.
[[nodiscard]] std::optional<Money> slot_price_max(const ClusterState& state, const Job& job, int slots);
// The same of its smallest size, where it holds nothing.
[[nodiscard]] std::optional<Money> slot_price_max(const Job& job);

// Of the slots of nodes that take workers; 0 without any.
[[nodiscard]] Money dearest_slot(const ClusterState& state);
// Its cap keeps it from slots at this price.
[[nodiscard]] bool is_too_dear_for(const Job& job, Money price);
// Some nodes that take workers are too dear for it, the dearest slot there costing so much: like a job that names nodes
// it asks for the others. Not while it holds slots that have become too dear themselves: it is to give up some first.
[[nodiscard]] bool is_bound_by_cap(const ClusterState& state, const Job& job, Money dearest);
// It asks for particular nodes: by what they are, or because of that.
[[nodiscard]] bool asks_for_nodes(const ClusterState& state, const Job& job, Money dearest);
// It may run there, and at its smallest size the node is within its cap.
[[nodiscard]] bool may_run_within_cap(const Job& job, const Node& node);

}  // namespace tidepool::core
