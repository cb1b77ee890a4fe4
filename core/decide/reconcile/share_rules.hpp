// Which rule between tenants (docs/fairness.md) is the cause that a job gives up slots in a decision. It is stored with
// the intent, so that the event can name it.
//
// Safe rules. Nothing is decided by it. It follows from the intents, the tree, what tenants hold and what the newest
// plan entitles them to. Where these do not show that shares are the cause, no rule is named.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Once it is known for which jobs slots are given up.
void tell_share_rules(DecisionDraft& draft);

}  // namespace tidepool::core
