// A reason in the form of documents: a name, numbers by name, and perhaps a word. The journal, the API and policy files
// use this form; this is the only place that converts numbers back to ids, money and durations.
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
// "speedup": the measure of its policy, or the word of a policy file; empty = none.
[[nodiscard]] std::string word_of(const Reason& reason);
// In display order.
[[nodiscard]] std::vector<ReasonNumber> numbers_of(const Reason& reason);

// Names of the numbers that are ids of jobs, in any kind of reason.
[[nodiscard]] const std::set<std::string_view>& job_numbers();
// Names of the numbers that describe the job whose id is the number "rival".
[[nodiscard]] const std::set<std::string_view>& rival_numbers();

// The data of the event worker.straggling for the slow worker that the reason is about. For any other reason only
// defaults.
[[nodiscard]] nlohmann::json straggler_json(const Reason& reason);

// Whether an event's data contain a reason of this name.
[[nodiscard]] bool tells_reason(const nlohmann::json& data, std::string_view name);

// The inverse of name_of(), word_of() and numbers_of(). Missing numbers are 0 or none; numbers that the reason does not
// have are ignored. Errors: no reason has this name, or no measure this word.
[[nodiscard]] Result<Reason> reason_from(std::string_view name, std::string_view word,
                                         const std::vector<ReasonNumber>& numbers);

}  // namespace tidepool::core
