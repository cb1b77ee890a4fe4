// A reason as documents have it: a name, numbers by name, and perhaps a word. What the journal, the API and policy
// files hold; the only place where numbers become ids, money and durations again.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// "WaitingForSlots".
[[nodiscard]] std::string_view name_of(const Reason& reason);
// In the order of the API's list.
[[nodiscard]] const std::vector<std::string_view>& reason_names();
// "speedup": by what its policy judges; of a policy file its own word; empty = none.
[[nodiscard]] std::string word_of(const Reason& reason);
// In the order in which they are shown.
[[nodiscard]] std::vector<ReasonNumber> numbers_of(const Reason& reason);

// Names of the numbers that are ids of jobs, in any kind of reason.
[[nodiscard]] const std::set<std::string_view>& job_numbers();
// Likewise of those that tell of the job whose id is the number "rival".
[[nodiscard]] const std::set<std::string_view>& rival_numbers();

// What the event worker.straggling tells of the slow worker that the reason is about. Of any other
// reason nothing but defaults.
[[nodiscard]] nlohmann::json straggler_json(const Reason& reason);

// An event's data tell of a reason of this name.
[[nodiscard]] bool tells_reason(const nlohmann::json& data, std::string_view name);

// The inverse of name_of(), word_of() and numbers_of(). Numbers that are missing are 0 or none; others than the reason
// has are left out. Errors: no reason has this name, or no measure this word.
[[nodiscard]] Result<Reason> reason_from(std::string_view name, std::string_view word,
                                         const std::vector<ReasonNumber>& numbers);

}  // namespace tidepool::core
