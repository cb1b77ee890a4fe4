// The word of a policy file about a job, as a reason.
#pragma once

#include <string>
#include <vector>

#include "core/state/reason.hpp"

namespace tidepool::core {

// Replaces `otherwise`, the reason given without the file; but `otherwise` remains if the job lacks slots, which the
// policy did not cause. If the word is a reason's name, the result is that reason, with the numbers of `otherwise`
// where the policy gives none, and without numbers that the reason does not have; any other word becomes a PolicyWord.
// An empty word changes nothing.
[[nodiscard]] Reason reason_of_policy(const std::string& word, const std::vector<ReasonNumber>& numbers,
                                      const Reason& otherwise);

}  // namespace tidepool::core
