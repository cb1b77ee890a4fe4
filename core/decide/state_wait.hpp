// A job whose newest state lies on one node, which has no room, while others have: it waits for that node as long as
// waiting costs less than doing the work again, and starts elsewhere after that. Where agents bring states to other
// nodes (core/state/state_move.hpp) it need not wait.
//
// The rule is again that of the ski rental (straggler_planner.hpp): after waiting as long as the lost work would take,
// the wait has cost as much as starting anew at once would have, so no job ever pays more than twice the better choice.
// Safe rule: a job that waits here holds up none behind it, and never waits longer than kStateWaitMax.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

inline constexpr Duration kStateWaitMax = Duration::seconds(600);

// Why the job does not start now wherever there is room: kWaitsForState. Nothing: its node has room for a worker, is
// away or cordoned, its state is brought to wherever it starts, or the wait is over. The wait is counted from its first
// moment since the job has had slots. Whether others have room makes no difference, so the answer stays true while a
// decision hands out slots.
[[nodiscard]] std::optional<Finding> waits_for_state(DecisionDraft& draft, const Job& job);

// When the wait of a job that waits so ends.
[[nodiscard]] std::optional<Instant> state_wait_ends(const Job& job);

// The reason of a start with this gang: Started, Resumed, ResumedByTransfer if its state is brought there, or
// ResumedElsewhere if it is left behind.
[[nodiscard]] Reason start_reason(const ClusterState& state, const Job& job, const std::vector<WorkerPlacement>& gang);

}  // namespace tidepool::core
