// The jobs that wait: in the policy's order, each starts whole or not at all.
#pragma once

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/waiting_line.hpp"

namespace tidepool::core {

// `pending` = ids of the jobs in state pending. Tells the draft whether any of them goes on waiting for
// slots that the cluster has.
void plan_queue(DecisionDraft& draft, const IdSet<JobId>& pending);
// The same of those who stand in the line, looking only at whom there is room for and at whom must be looked at.
// Requires: the nodes are as they were when the line's settled jobs were judged.
void plan_queue(DecisionDraft& draft, const WaitingLine& line);

// Starts a waiting job at the largest allowed size up to the wish that there is room for and that its price cap allows.
// False if it cannot start now.
bool start_waiting(DecisionDraft& draft, const Job& job, const Wished& wish);

// How many workers of a waiting job there is room for, of slots that are kept for nobody; 0 if it could not start.
[[nodiscard]] int room_to_start(DecisionDraft& draft, const Job& job);

// The largest size of the job that is not above `wish`, or its smallest one.
[[nodiscard]] int allowed_size(const Job& job, int wish);

}  // namespace tidepool::core
