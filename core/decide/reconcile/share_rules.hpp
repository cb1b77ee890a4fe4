// Determines which rule between tenants (docs/fairness.md) makes a job release slots in a decision. The rule is stored
// with the intent, so that the event can name it.
//
// Safe rules. No decision depends on it. It follows from the intents, the tree, what tenants hold and what the newest
// plan entitles them to. If these do not show that shares are the cause, no rule is named.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Call once it is known for which jobs slots are released.
void record_share_rules(DecisionDraft& draft);

}  // namespace tidepool::core
