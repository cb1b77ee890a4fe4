// Transitions of one job that do not depend on the policy: ends, saving of states, switches, stops, time limits.
// They depend only on the state and the time.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

void plan_transitions(DecisionDraft& draft, const Job& job);

// The job will end, whatever it still holds: it is not started again and does not change.
[[nodiscard]] bool is_ending(const Job& job, Instant now);

// When the answer above (or that of the size planner) may change without a fact: the first deadline, cooldown or grace
// period of the job that ends after `after`.
[[nodiscard]] std::optional<Instant> next_due(const ClusterState& state, const Job& job, const EngineConfig& config,
                                              Instant after);

}  // namespace tidepool::core
