// Clears nodes for a waiting gang: enough slots are free, but too few nodes have as many as one of its workers needs
// (core/place/clearing.hpp). Workers of other jobs leave nodes for it, and their jobs continue elsewhere. Workers that
// must share a node, a group or a whole job, count as one worker with the slots of all of them. If a job must be in one
// domain of several nodes (PlacementSpec::key), the domain with the least cost of leaving is cleared.
//
// Safe rules. Only a job that holds nothing makes others leave, at its smallest size, and only jobs without topology
// rules leave whose workers are narrower than what it needs in one place, so no two jobs clear nodes for each other in
// turn. The domain being cleared stays the same until the job starts, as long as others can leave it. Clearing uses
// free slots only: slots being released belong to the job for which they are released. All that leave find room
// elsewhere, on free slots that are reserved for no other job. A job that can hand over its state moves, and is never
// smaller than before; any other job releases its slots with its state saved and starts again, unless it is not
// preemptible, is protected by the operators' limits, ends soon, follows no plan or has a higher priority in the same
// tenant. Until the gang starts the nodes are reserved for it, and it is first in line.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

// Others have left nodes for the job, or are about to, and it has not started since.
[[nodiscard]] bool is_cleared_for(const Job& job);

// Makes others leave, if not enough becomes free without that, and reserves the nodes; returns the job's pending
// reason. None: nobody leaves, as that would not make room. Requires: the job waits, and its plan gives it slots.
[[nodiscard]] std::optional<Finding> clear_nodes_for(DecisionDraft& draft, const Job& waiting,
                                                     SlotReservations& reservations, PreemptionLimits& limits);

}  // namespace tidepool::core
