// The next generation of a job whose programs know nothing of generations (ResizeMode::kRestart): when those of the
// old one have failed, and when those of the new one may start. None starts while one of an older generation may
// still run, because both would write the same checkpoints.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// A program of the newest generation has failed: all are stopped, and the same workers start them anew. False if none
// has.
[[nodiscard]] bool restart_failed(DecisionDraft& draft, const Job& job);

// Starts the programs of the newest generation once all older ones have ended and the pause is over.
void launch_if_stopped(DecisionDraft& draft, const Job& job);

// Its programs ran and have failed, and those of the newest generation have not been told to start.
[[nodiscard]] bool awaits_relaunch(const Job& job);
// The same, from the moment after the decision that starts them anew: nothing follows at once from that one.
[[nodiscard]] bool may_leave_before_launch(const Job& job, Instant now);

// From the commit of the newest generation: nothing, or after a failure 1 s, doubled with each loss so far, at most
// 60 s; a program that always fails must not keep its nodes busy.
[[nodiscard]] Duration pause_before_launch(const Job& job);

// When launch_if_stopped could answer differently with no new fact.
[[nodiscard]] std::optional<Instant> next_launch(const Job& job);

// Part of the job's programs has ended well: it is about to finish, and its size stays as it is.
[[nodiscard]] bool is_finishing(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
