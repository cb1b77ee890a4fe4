// Price changes: by the list that an operator sets, and by that list as time passes.
//
// Rule: what jobs held before a change is charged at the old price, exact to the microsecond, however late the fact
// arrives with which the change is noticed.
#pragma once

#include <optional>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const PricesConfigured& fact);

// As time passes: applies all changes that are due, in order. Returns whether a window of a budget ended before one of
// them. Requires: no job has been written to.
[[nodiscard]] bool follow_prices(StateChange& change);

// Call when something that prices depend on (nodes, labels, pools, the calendar) is about to change, and after it has
// changed. Does nothing while there is no list.
void prices_until_now(StateChange& change);
void reprice(StateChange& change);
// The same if the change affects this node alone, or the node was removed; other nodes are not examined.
void reprice(StateChange& change, NodeId node);
// The price of the node where no rule sets one; call reprice() afterwards. Likewise for all pools, as configured.
void set_own_price(StateChange& change, Node& node, Money price);
void restore_own_prices_of_pools(StateChange& change);

// When a price of the list next changes.
[[nodiscard]] std::optional<Instant> next_price_due(const ClusterState& state);

}  // namespace tidepool::core
