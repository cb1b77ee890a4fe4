// Lists of resources, as /v1 sends them, as tables. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

[[nodiscard]] std::string jobs_table(const nlohmann::json& jobs, const Style& style);
// "up", "cordoned", "maintenance until 04:00:00", "draining until 14:05:00", "drained", "unsteady until 14:05:00 (3
// losses in 10m 0s)" or "lost". Times of another day than that of `now` have their day.
[[nodiscard]] std::string node_state(const nlohmann::json& node, std::string_view now);
// The message for a node that was opened: `said`, or its state if something else still keeps it closed.
[[nodiscard]] std::string opened_node(const nlohmann::json& node, const std::string& said, std::string_view now);
[[nodiscard]] std::string nodes_table(const nlohmann::json& nodes, const Style& style);
[[nodiscard]] std::string workers_table(const nlohmann::json& workers, const Style& style);
// Whether rows that differ only in their time are one row with a count, and unchanged jobs of a decision are counted;
// or all are shown.
enum class Rows { kFolded, kAll };
// One line a decision and intent: when, which job, what and why. `only`: what is about this job; empty: all.
[[nodiscard]] std::string decisions_text(const nlohmann::json& decisions, const Style& style, Rows rows,
                                         const std::string& only = "");
[[nodiscard]] std::string policies_table(const nlohmann::json& policies, const Style& style);
[[nodiscard]] std::string node_tokens_table(const nlohmann::json& tokens, const Style& style);
[[nodiscard]] std::string tokens_table(const nlohmann::json& tokens, const Style& style);
// Measured sizes of a job with `chosen` marked (0 = none).
[[nodiscard]] std::string sizes_table(const nlohmann::json& sizes, int chosen, const Style& style);

}  // namespace tidepool::ctl
