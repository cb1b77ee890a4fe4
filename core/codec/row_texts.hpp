// Facts and decisions as the journal stores them: canonical JSON that omits the fields of a blank value. Complete
// texts, as earlier versions wrote them, are read in the same way.
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
// In the form of to_json().
[[nodiscard]] Result<nlohmann::json> decision_json_from_text(std::string_view text);
[[nodiscard]] Result<Decision> decision_from_text(std::string_view text);

}  // namespace tidepool::core
