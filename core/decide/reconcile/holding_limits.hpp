// What tenants may hold at most, of jobs to which the plan gives nothing.
//
// Rule. Such a job keeps its slots only while its tenant, and each one above it, holds no more than it may borrow and
// than others lend (most_held()). Else the last in the plan's order leave, and no more of them than that takes. What
// spares a job from a claim spares it from this, too: then its tenant holds more until that is over.
#pragma once

#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"

namespace tidepool::core {

// Once all slots are handed out.
void keep_to_holding_limits(DecisionDraft& draft, Victims& victims);

}  // namespace tidepool::core
