// What a submission would lead to, and when jobs start and end, as people read it. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

// "expected to start at about 15:10 (between 15:02 and 15:31) and to end at about 16:40 (between 16:20 and 17:05)".
// Times of another day than that of the forecast have their date. Empty: there is no forecast.
[[nodiscard]] std::string forecast_in_words(const nlohmann::json& forecast);
// The same of a job in this state: of one that has started by now a start that was expected is not told.
[[nodiscard]] std::string forecast_in_words(nlohmann::json forecast, const std::string& state);

// Of a whole job with a deadline that has passed, or before which it is not expected to end: both times. Else empty.
[[nodiscard]] std::string deadline_in_words(const nlohmann::json& job);

// "starts 15:10" of a job that waits, "ends 16:40" of others; "-" if it is not known.
[[nodiscard]] std::string forecast_cell(const nlohmann::json& forecast);

// The answer of POST /v1/plan.
[[nodiscard]] std::string plan_page(const nlohmann::json& plan, const std::string& file, const Style& style);

// Of the answer to the dry run of a submission: what the daemon would decide, a line each: whether the job starts and
// where, what other jobs give up for it, and what would let it start. Empty if the answer tells of no decision.
[[nodiscard]] std::string decision_in_words(const nlohmann::json& job);

}  // namespace tidepool::ctl
