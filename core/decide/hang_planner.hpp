// Ends workers that show no progress: joining workers that do not become ready, workers reported as stuck by their
// agent, members that hold up a switch. They then count as lost, and the job continues without them.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Ends the workers that their agents reported as stuck, whatever the job does.
void stop_stuck(DecisionDraft& draft, const Job& job);

// Ends joining workers that exceed their boot time, and members of a switch that does not complete.
void stop_late(DecisionDraft& draft, const Job& job);

// When stop_late() may act next without a new fact; none = never.
[[nodiscard]] std::optional<Instant> next_hang(const ClusterState& state, const Job& job, const EngineConfig& config,
                                               Instant after);

}  // namespace tidepool::core
