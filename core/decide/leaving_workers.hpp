// Which workers leave when a job shrinks.
#pragma once

#include <vector>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Rule. First leave workers on slots of a type that other jobs request, if the job may run elsewhere; then slow workers
// (kStragglerStreak), also with a smaller share; then workers on the nodes with the fewest of the job's workers, from
// the end of the rank order. A spread job removes workers from the domains with most of its workers; a job with groups
// removes its last groups. Rank 0 stays unless all leave. The result is in rank order.
[[nodiscard]] std::vector<WorkerId> leaving_workers_of(DecisionDraft& draft, const Job& job, int count);

}  // namespace tidepool::core
