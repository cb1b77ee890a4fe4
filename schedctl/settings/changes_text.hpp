// What a file of settings (tenants, prices) would change, as /v1 answers it, for people. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

// "none" for what is not set, texts without quotes, lists in brackets.
[[nodiscard]] std::string value_text(const nlohmann::json& value);
// A line each: "+ new", "- gone", "~ vision: guarantee 4 -> 6"; then why it would be refused, and warnings. `kind`:
// what an entry is called, "tenant".
[[nodiscard]] std::string changes_text(const std::string& kind, const nlohmann::json& answer, const Style& style);

}  // namespace tidepool::ctl
