// The size of one running job: a straggler is replaced first; then the job follows its wish (the
// user's, or the policy's) as far as cooldown, minimum run time, free slots, price cap and batch allow.
#pragma once

#include "schedulerd/core/decision_draft.hpp"

namespace tidepool::core {

// Does nothing for a job that is not running or has a change of membership under way.
void plan_size(DecisionDraft& draft, const Job& job);

// Whether free slots or the queue decide what becomes of the job: it is looked at again when they change.
[[nodiscard]] bool waits_for_capacity(const Job& job);

// Whether a waiting job keeps running ones from growing: slots would help it.
[[nodiscard]] bool claims_free_slots(const Job& job);

}  // namespace tidepool::core
