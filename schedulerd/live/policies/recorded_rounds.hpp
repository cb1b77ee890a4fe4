// The daemon's own journal, read again from a snapshot on, with a candidate asked at each recorded round.
//
// Decision by decision and not as a workload: each round asks the candidate about the state that really was, so what is
// printed is what it would have answered then. A workload made of the journal would have to guess how fast jobs would
// have been at sizes that were never measured.
#pragma once

#include <stop_token>

#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live {

// Opens the journal for reading only. A round is a recorded decision that started, changed or planned something. Gives
// up between two rows once `stop` is requested: a thousand rounds of a slow candidate take hours.
[[nodiscard]] Result<PolicyReplay> replay_rounds(const PolicyEvaluator::ReplayAsked& asked,
                                                 const PolicyEvaluator::Setup& setup, const std::stop_token& stop);

}  // namespace tidepool::live
