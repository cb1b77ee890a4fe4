// The answer to the dry run of a submission in plain words.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tidepool::ctl {

// What the daemon would decide, a line each: whether the job starts and where, what other jobs give up for it, and what
// would let it start. Empty if the answer tells of no decision.
[[nodiscard]] std::string decision_in_words(const nlohmann::json& job);

}  // namespace tidepool::ctl
