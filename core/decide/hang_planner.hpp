// Ends workers that give no sign of life: joining workers that do not become ready, workers whose agent sees no
// progress, members that hold up a switch. Their deaths then count as losses, and the job goes on without them.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Ends the workers that their agents have reported as stuck, whatever the job does.
void stop_stuck(DecisionDraft& draft, const Job& job);

// Ends joining workers beyond their time to boot and members of a switch that does not come.
void stop_late(DecisionDraft& draft, const Job& job);

// When the answer of stop_late may change next though no fact arrives; none = never.
[[nodiscard]] std::optional<Instant> next_hang(const ClusterState& state, const Job& job, const EngineConfig& config,
                                               Instant after);

}  // namespace tidepool::core
