// Which workers leave when a job gives up some of its size.
#pragma once

#include <vector>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Rule. Those on slots of a type that others ask for come first, if the job may be elsewhere; then slow ones
// (kStragglerStreak), also with a smaller share; then those on nodes with the fewest of its workers, from the end of
// the rank order. A job that is spread gives up those of the domains with most of its workers, one with groups the last
// ones. Rank 0 stays, unless all leave. In rank order.
[[nodiscard]] std::vector<WorkerId> leaving_workers_of(DecisionDraft& draft, const Job& job, int count);

}  // namespace tidepool::core
