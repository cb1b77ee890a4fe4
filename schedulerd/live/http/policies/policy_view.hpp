// Policy files and what is known of them as JSON, exactly as api/openapi.yaml describes it. Nothing here decides or
// waits; the journal is asked for the names of jobs that have ended, and for the version that decides.
#pragma once

#include <nlohmann/json.hpp>

#include "schedulerd/live/http/rest.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/service/shadow_report.hpp"

namespace tidepool::live::http {

// `with_source`: the text of a Lua policy, too; a library's bytes are not given back.
[[nodiscard]] nlohmann::json render_policy_version(const Published& seen, const PolicyVersion& version,
                                                   bool with_source);
// Which policy decides, which runs as the shadow, and what an operator may not know of the one that decides.
[[nodiscard]] nlohmann::json render_policy_status(Rest& rest, const Published& seen);
[[nodiscard]] nlohmann::json render_examined_policy(const PolicyVersion& version, const PolicyExamined& examined);
[[nodiscard]] nlohmann::json render_shadow_report(const Published& seen, const ShadowReport& report, History& past);
[[nodiscard]] nlohmann::json render_policy_replay(const Published& seen, const PolicyReplay& replay, History& past);

}  // namespace tidepool::live::http
