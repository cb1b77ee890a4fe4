// The list of prices as /v1 sends it, for people: the table, and the file of what is set. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

// A row for each entry of each rule; what holds now, when it changes, and of how many nodes it is the price.
[[nodiscard]] std::string prices_table(const nlohmann::json& prices, const Style& style);
// The file from which the list can be set again, without the fields that are as by default.
[[nodiscard]] nlohmann::ordered_json prices_document(const nlohmann::json& prices, const std::string& below);

}  // namespace tidepool::ctl
