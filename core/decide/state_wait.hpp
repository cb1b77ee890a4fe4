// A job whose newest state is on one node without room, while other nodes have room: it waits for that node as long as
// waiting costs less than redoing the work, and then starts elsewhere. Where agents transfer states to other nodes
// (core/state/state_move.hpp) it need not wait.
//
// The rule is the ski rental rule (straggler_planner.hpp): after waiting for as long as the lost work would take, the
// wait has cost as much as starting over at once, so no job pays more than twice the better choice. Safe rule: a job
// that waits here blocks no job behind it, and never waits longer than kStateWaitMax.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

inline constexpr Duration kStateWaitMax = Duration::seconds(600);

// The reason if the job does not start wherever there is room: kWaitsForState. None: its node has room for a worker, is
// away or cordoned, its state is transferred to wherever it starts, or the wait is over. The wait counts from its first
// moment since the job last had slots. Room on other nodes makes no difference, so the answer stays valid while a
// decision allocates slots.
[[nodiscard]] std::optional<Finding> waits_for_state(DecisionDraft& draft, const Job& job);

// When such a wait ends.
[[nodiscard]] std::optional<Instant> state_wait_ends(const Job& job);

// The reason for a start with this gang: Started, Resumed, ResumedByTransfer if its state is transferred there, or
// ResumedElsewhere if its state is left behind.
[[nodiscard]] Reason start_reason(const ClusterState& state, const Job& job, const std::vector<WorkerPlacement>& gang);

}  // namespace tidepool::core
