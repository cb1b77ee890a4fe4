// Maintenance windows as time passes: nodes that are drained for a window, and windows that begin, end and recur.
//
// Rule: a window takes effect with the first fact at or after its time (like budgets, budget_facts.hpp), so after an
// interruption the daemon sets each node to what the windows of that moment require.
#pragma once

#include <optional>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const MaintenanceAdded& fact);
[[nodiscard]] Status apply(StateChange& change, const MaintenanceRemoved& fact);

// Call after each fact. `since`: the time of the previous fact; `of_nodes`: the present fact changes nodes, windows or
// UTC.
void follow_maintenance(StateChange& change, Instant since, bool of_nodes);
// When a window next changes what it requires of its nodes.
[[nodiscard]] std::optional<Instant> next_maintenance_due(const ClusterState& state);

}  // namespace tidepool::core
