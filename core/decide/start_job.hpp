// The start of a job that waits: whole or not at all.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Starts a waiting job at the largest allowed size up to its target that there is room for and that its price cap
// allows. False if it cannot start now.
bool start_job(DecisionDraft& draft, const Job& job, const Target& target);

}  // namespace tidepool::core
