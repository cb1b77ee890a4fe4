// The next generation of a job whose programs are restarted at each change (ResizeMode::kRestart): when programs of the
// old generation have failed, and when those of the new one may start. None starts while a program of an older
// generation may still run, because both would write the same checkpoints.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// If a program of the newest generation has failed, stops all of them; the same workers then restart them. False if
// none has failed.
[[nodiscard]] bool restart_failed(DecisionDraft& draft, const Job& job);

// Starts the programs of the newest generation once all older ones have ended and the pause is over.
void launch_if_stopped(DecisionDraft& draft, const Job& job);

// Its programs have failed, and those of the newest generation have not been ordered to start.
[[nodiscard]] bool awaits_relaunch(const Job& job);
// The same, from the moment after the decision to restart them: nothing follows at once from that decision.
[[nodiscard]] bool may_leave_before_launch(const Job& job, Instant now);

// The pause after the commit of the newest generation: none, or after a failure 1 s, doubled with each loss so far, at
// most 60 s; a program that always fails must not keep its nodes busy.
[[nodiscard]] Duration pause_before_launch(const Job& job);

// When launch_if_stopped() could act next without a new fact.
[[nodiscard]] std::optional<Instant> next_launch(const Job& job);

// Some of the job's programs have exited successfully: the job is about to finish, and keeps its size.
[[nodiscard]] bool is_finishing(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
