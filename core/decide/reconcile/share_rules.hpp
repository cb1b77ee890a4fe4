// By which rule between tenants (docs/fairness.md) jobs give up slots in a decision: it is told with the intent, so
// that the event says it.
//
// Safe rules. Nothing is decided by it. It follows from the intents, the tree, what tenants hold and what the newest
// plan entitles them to. Where these do not say that shares are why a job gives up slots, no rule is told.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Once it is known for which jobs slots are given up.
void tell_share_rules(DecisionDraft& draft);

}  // namespace tidepool::core
