// Claimants: waiting or growing jobs for which running jobs release slots. They are served before the jobs that
// released.
//
// Rule. A job that released slots for another job does not get them back before the other job has received them or no
// longer needs them (core/place/slot_claims.hpp).
#pragma once

#include <optional>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Records for the jobs shrunk by this decision which jobs in line receive their slots: those that lack nothing else.
// Call once all slots are allocated; `releasing`: every job for which releases_slots() is true.
void record_claimants(DecisionDraft& draft, const std::vector<TargetedJob>& line, const IdSet<JobId>& releasing);

// The line in its order, except that a growing job comes after the jobs in line for which it released slots and which
// have not received them yet: it takes only what these leave.
[[nodiscard]] std::vector<TargetedJob> order_behind_claimants(std::vector<TargetedJob> line);
// The first job for which this running job released slots and whose plan is not fulfilled yet.
[[nodiscard]] std::optional<JobId> claimant_still_owed(const DecisionDraft& draft, const Job& job);

}  // namespace tidepool::core
