// Fields of a job file that may be left out: none where the field is missing or null, and written back as null. So a
// document that was completed with its defaults reads as the same job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/time.hpp"

namespace tidepool::api::v1 {

// What is no duration with a unit is a finding, and none.
[[nodiscard]] std::optional<Duration> optional_duration(ObjectReader& in, std::string_view field);

[[nodiscard]] nlohmann::json or_null(const std::optional<Duration>& duration);
[[nodiscard]] nlohmann::json or_null(const std::optional<std::int64_t>& number);
// Null where it is empty.
[[nodiscard]] nlohmann::json or_null(const std::string& text);

}  // namespace tidepool::api::v1
