// What the jobs of a tenant take where their job files are silent, as a file of tenants states it: a job file with no
// other fields than these. Checked here by the reader of job files itself, so a default is right if a job may say it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/v1/job_spec.hpp"
#include "base/json.hpp"

namespace tidepool::api::v1 {

// The fields of a job file that can have a default, by their path.
inline constexpr std::array<std::string_view, 14> kFieldsWithDefaults = {
    "priority",         "preemptible",     "resources.gpu.type",           "placement.selector", "elastic.min_runtime",
    "elastic.cooldown", "elastic.grace",   "scaling.efficiency_threshold", "scaling.price_cap",  "checkpoint.every",
    "checkpoint.dir",   "checkpoint.keep", "limits.max_duration",          "limits.max_restarts"};

// Where "elastic.cooldown" stands in a job file: /elastic/cooldown.
[[nodiscard]] nlohmann::json::json_pointer pointer_of_field(std::string_view path);

// A part of a job file with what `value` sets, checked; empty if it is null. `pointer` is where it stands.
[[nodiscard]] nlohmann::json read_job_defaults(const nlohmann::json& value, const std::string& pointer,
                                               std::vector<FieldError>& errors);

// The part as a job file that is silent about all else would have it. Requires: of read_job_defaults, without errors.
[[nodiscard]] JobSpecV1 job_with_defaults(const nlohmann::json& defaults);

}  // namespace tidepool::api::v1
