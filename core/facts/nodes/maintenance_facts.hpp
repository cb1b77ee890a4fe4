// Maintenance windows as time passes: nodes that are drained for one, windows that begin, end and come again.
//
// Rule: a window takes effect with the first fact at or after its moment (as budgets go on, budget_facts.hpp), so a
// daemon that was away finds each node as the windows of that moment ask for.
#pragma once

#include <optional>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const MaintenanceAdded& fact);
[[nodiscard]] Status apply(StateChange& change, const MaintenanceRemoved& fact);

// After each fact. `since`: the time of the fact before; `of_nodes`: this one speaks of nodes, windows or UTC.
void follow_maintenance(StateChange& change, Instant since, bool of_nodes);
// When the next window asks for something else of its nodes than now.
[[nodiscard]] std::optional<Instant> next_maintenance_due(const ClusterState& state);

}  // namespace tidepool::core
