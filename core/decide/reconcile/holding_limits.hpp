// Enforces the most slots that tenants may hold, for jobs whose target is 0.
//
// Rule. Such a job keeps its slots only while its tenant, and each tenant above it, holds no more than it may borrow
// and than others lend (most_held()). Otherwise the last jobs in the plan's order leave, and only as many as needed.
// Whatever protects a job from a claim protects it here, too; its tenant then holds more until the protection is over.
#pragma once

#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/victims.hpp"

namespace tidepool::core {

// Call once all slots are allocated.
void keep_to_holding_limits(DecisionDraft& draft, Victims& victims);

}  // namespace tidepool::core
