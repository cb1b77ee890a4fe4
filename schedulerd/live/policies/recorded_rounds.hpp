// Reads the daemon's own journal from a snapshot on, and asks a candidate at each recorded round.
//
// Round by round instead of as a workload: each round asks the candidate about the recorded state, so the result is
// what it would have answered then. A workload made from the journal would have to guess the speed of jobs at sizes
// that were never measured.
#pragma once

#include <stop_token>

#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live {

// Opens the journal for reading only. A round is a recorded decision that started, changed or planned something. Gives
// up between two rows once `stop` is requested: a thousand rounds of a slow candidate take hours.
[[nodiscard]] Result<PolicyReplay> replay_rounds(const PolicyEvaluator::ReplayAsked& asked,
                                                 const PolicyEvaluator::Setup& setup, const std::stop_token& stop);

}  // namespace tidepool::live
