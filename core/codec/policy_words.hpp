// What a policy file says of a job, as a reason.
#pragma once

#include <string>
#include <vector>

#include "core/state/reason.hpp"

namespace tidepool::core {

// Instead of what would be said otherwise; that stands if the job lacks slots, which is no doing of the policy. A
// reason's name speaks that reason, with the numbers of `otherwise` where the policy gives none, and without those that
// the reason does not have; anything else is a word of its own. An empty word says nothing.
[[nodiscard]] Reason reason_of_policy(const std::string& word, const std::vector<ReasonNumber>& numbers,
                                      const Reason& otherwise);

}  // namespace tidepool::core
