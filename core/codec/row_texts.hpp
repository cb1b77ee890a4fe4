// Facts and decisions as the journal keeps them: canonical JSON that leaves out what a blank one says. Whole ones, as
// earlier versions wrote them, are read alike.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

[[nodiscard]] std::string fact_text(const Fact& fact);
[[nodiscard]] Result<Fact> fact_from_text(std::string_view text);

[[nodiscard]] std::string decision_text(const Decision& decision);
// As to_json() has it.
[[nodiscard]] Result<nlohmann::json> decision_json_from_text(std::string_view text);
[[nodiscard]] Result<Decision> decision_from_text(std::string_view text);

}  // namespace tidepool::core
