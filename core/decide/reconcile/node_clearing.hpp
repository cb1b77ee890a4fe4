// Nodes are cleared for a gang that waits: slots enough are free, but on too few nodes as many as one of its workers
// needs (core/place/clearing.hpp). Workers of other jobs leave nodes for it, and their jobs go on elsewhere. Workers
// that have to share a node, a group or a whole job, count as one worker with the slots of all of them. Where a job has
// to be in one domain of several nodes (PlacementSpec::key), that domain is cleared in which those who leave cost
// least.
//
// Safe rules. Only a job that holds nothing has others leave, at its smallest size, and only jobs without rules leave
// whose workers are narrower than what it needs in one place, so no two jobs clear nodes for each other in turn. A
// domain stays the one that is cleared until the job starts, as long as others can leave it. It counts with free slots
// alone: what else comes free is for the job for which it was given up. All that leave find room elsewhere, on slots
// that are free and kept for no other. A job that can hand its state on moves, and is never smaller than it was;
// another one releases its slots with its state saved, and starts again, unless it may not be preempted, is spared by
// the operators' limits, ends soon, follows no plan or has a higher priority in the same tenant. Until the gang starts
// the nodes are kept for it, and it is first in line.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

// Others have left nodes for the job, or are about to, and it has not started since.
[[nodiscard]] bool is_cleared_for(const Job& job);

// Has others leave, if not enough comes free without that, and keeps the nodes; returns what is found of the job then.
// None: none leaves, as they would not make room. Requires: the job waits, and its plan gives it slots.
[[nodiscard]] std::optional<Finding> clear_nodes_for(DecisionDraft& draft, const Job& waiting,
                                                     SlotReservations& reservations, PreemptionLimits& limits);

}  // namespace tidepool::core
