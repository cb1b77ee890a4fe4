// What must happen to one job whatever any policy says: ends, parking, switches, stops, time limits.
// Follows from the state and the time alone.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

void plan_transitions(DecisionDraft& draft, const Job& job);

// The job is to end, whatever it still holds: it is not started again and changes no more.
[[nodiscard]] bool is_ending(const Job& job, Instant now);

// When the answer above (or that of the size planner) may change though no fact arrives: the first
// deadline, cooldown or grace period of the job that ends after `after`.
[[nodiscard]] std::optional<Instant> next_due(const ClusterState& state, const Job& job, const EngineConfig& config,
                                              Instant after);

}  // namespace tidepool::core
