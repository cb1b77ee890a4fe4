// scaling: of a job file: how its size is chosen, and what finishing at which time is worth.
//
// A utility is either linear or piecewise; both fall with time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::api::v1 {

struct UtilityPoint {
  Duration at;
  double value = 0;
};
struct ScalingFields {
  std::string policy = "default";
  std::int64_t every_steps = 20;
  int spawn_size = 1;
  double efficiency_threshold = 0.1;
  std::optional<double> utility_linear_value;  // with utility_linear_zero_at
  std::optional<Duration> utility_linear_zero_at;
  std::vector<UtilityPoint> utility_piecewise;  // empty = none
  std::optional<Money> price_cap;
};

[[nodiscard]] ScalingFields read_scaling(const nlohmann::json& value, std::vector<FieldError>& errors);
[[nodiscard]] nlohmann::json scaling_document(const ScalingFields& scaling);

}  // namespace tidepool::api::v1
