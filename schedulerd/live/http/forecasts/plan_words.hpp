// What a submission would bring, as JSON and as a sentence for people. Pure.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {

// Other tenants' jobs are counted, not named. `seen_by.seen` is the picture of the plan.
[[nodiscard]] nlohmann::json render_plan(const PlannedSubmit& planned, const SeenBy& seen_by,
                                         const std::string& currency);

}  // namespace tidepool::live::http
