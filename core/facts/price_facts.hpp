// Prices that change: by the list that an operator sets, and by that list as time passes.
//
// Rule: what jobs have held until then is charged at the price before, up to the very microsecond, however late the
// fact comes with which it is noticed.
#pragma once

#include <optional>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const PricesConfigured& fact);

// As time passes: all changes that are due, in their order. Whether a window of a budget has ended before one of them.
// Requires: no job has been written to.
[[nodiscard]] bool follow_prices(StateChange& change);

// What a price rests on (nodes, labels, pools, the calendar) is about to change, and has changed. Nothing while there
// is no list.
void prices_until_now(StateChange& change);
void price_anew(StateChange& change);
// The same where it has changed for this node alone, or the node has gone; the others are not looked at.
void price_anew(StateChange& change, NodeId node);
// What the node costs where no rule says otherwise; price_anew() is to follow. Likewise all pools, as configured.
void set_own_price(StateChange& change, Node& node, Money price);
void restore_own_prices_of_pools(StateChange& change);

// When a price of the list is another one.
[[nodiscard]] std::optional<Instant> next_price_due(const ClusterState& state);

}  // namespace tidepool::core
