// Describes the effect of a submission, and when jobs start and end. Pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

// `now` and all times are as /v1 writes them. Times of another day than that of `now` have their date, and what was
// expected before it is told as late; without it (""), the time at which the forecast was made stands for it.

// "expected to start at about 15:10 (between 15:02 and 15:31) and to end at about 16:40 (between 16:20 and 17:05)".
// Empty: there is no forecast.
[[nodiscard]] std::string forecast_in_words(const nlohmann::json& forecast, std::string now = "");
// The same for a job in this state: the expected start of a job that has started is omitted.
[[nodiscard]] std::string job_forecast_in_words(nlohmann::json forecast, const std::string& state,
                                                const std::string& now);

// For a complete job document whose deadline has passed, or which is not expected to end before it: both times. Else
// empty.
[[nodiscard]] std::string deadline_in_words(const nlohmann::json& job, const std::string& now);

// "starts 15:10" of a job that waits, "ends 16:40" of others, "late: ends 16:40" once that has passed; "-" if it is
// not known.
[[nodiscard]] std::string forecast_cell(const nlohmann::json& forecast, std::string now);

// The answer of POST /v1/plan.
[[nodiscard]] std::string plan_page(const nlohmann::json& plan, const std::string& file, const Style& style);

// The same for the dry run of a resize: whether its change would begin at once, and its effect on other jobs.
[[nodiscard]] std::string resize_in_words(const nlohmann::json& job);
// For the answer to the dry run of a submission: what the daemon would decide, in lines: whether the job starts and
// where, what other jobs release for it, and for a waiting job the evidence and what would let it start. Empty if the
// answer has no decision.
[[nodiscard]] std::string decision_in_words(const nlohmann::json& job);
// For a submitted job that waits for more than free slots: the reason, and the command that shows more. Empty for any
// other job, also one that only waits for its turn.
[[nodiscard]] std::string never_starts_in_words(const nlohmann::json& job);
// For a submitted batch: a line for each reason why jobs wait, those that cannot start first, at most a few. Empty if
// all of them start.
[[nodiscard]] std::vector<std::string> batch_waits_in_words(const nlohmann::json& stored);

}  // namespace tidepool::ctl
