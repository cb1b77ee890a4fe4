// Jobs in line for which running jobs give up slots. They come before the jobs that gave.
//
// Rule. A job that gave up slots for another one does not take them back until that one has had them or needs them no
// more (core/place/slot_claims.hpp).
#pragma once

#include <optional>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Says of the jobs that this decision has shrunk which jobs in line are to have their slots: those that lack nothing
// else. Once all slots are handed out; `releasing`: every job of which releases_slots() holds.
void tell_claimants(DecisionDraft& draft, const std::vector<TargetedJob>& line, const IdSet<JobId>& releasing);

// The line in its order, but that a job which is to have more comes behind those in line for which it gave up slots and
// which have still to have them: it takes what these leave, and none of it back.
[[nodiscard]] std::vector<TargetedJob> behind_claimants(std::vector<TargetedJob> line);
// The first job that a running one has given up slots for and that has still to have more by the plan.
[[nodiscard]] std::optional<JobId> still_owed_by(const DecisionDraft& draft, const Job& job);

}  // namespace tidepool::core
