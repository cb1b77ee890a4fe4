// Tenants as /v1 sends them, for people: the table, one of them, and the file of what is set. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

// The tree with each tenant below its parent, and why it does not share, if so.
[[nodiscard]] std::string tenants_table(const nlohmann::json& tree, const Style& style);
[[nodiscard]] std::string tenant_page(const nlohmann::json& tenant, const Style& style);
// The file from which the tree, or what lies below one tenant, can be set again, without the fields that are as by
// default.
[[nodiscard]] nlohmann::ordered_json tenants_document(const nlohmann::json& tree, const std::string& below = "");

// Slot-hours and cost of each tenant since it was set up.
[[nodiscard]] std::string usage_table(const nlohmann::json& tree, const Style& style);
// The same as RFC 4180 has it, under a header.
// Of days, summed by keys (GET /v1/usage).
[[nodiscard]] std::string usage_rows_table(const nlohmann::json& usage, const Style& style);
[[nodiscard]] std::string usage_rows_csv(const nlohmann::json& usage);
[[nodiscard]] std::string usage_csv(const nlohmann::json& tree);

}  // namespace tidepool::ctl
