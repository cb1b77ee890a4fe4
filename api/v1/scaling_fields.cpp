#include "api/v1/scaling_fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/v1/elastic_fields.hpp"
#include "api/v1/optional_fields.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

constexpr double kUtilityMost = 1e12;  // what follows from it by sums and slopes stays finite

void read_linear(const json& value, ScalingFields& scaling, Errors& errors) {
  ObjectReader in(value, "/scaling/utility/linear", errors);
  if (!in.has("value")) in.fail("value", "Missing", "is needed: what finishing at once would be worth");
  scaling.utility_linear_value = in.number("value", 0, 0, kUtilityMost);
  const auto zero_at = optional_duration(in, "zero_at");
  if (!in.has("zero_at"))
    in.fail("zero_at", "Missing", "is required: the time at which finishing has no value any longer");
  if (zero_at && *zero_at <= Duration()) in.fail("zero_at", "OutOfRange", "must be longer than nothing");
  scaling.utility_linear_zero_at = zero_at.value_or(Duration::seconds(1));
  in.finish();
}

// A list of [time, value] pairs: times rise, values fall.
void read_piecewise(ObjectReader& utility, ScalingFields& scaling) {
  const json& value = utility.raw("piecewise");
  const std::string shape = "must be a list of 2 to 64 pairs such as [[\"0s\", 100], [\"3h\", 0]]";
  if (!value.is_array() || value.size() < 2 || value.size() > 64) return utility.fail("piecewise", "WrongType", shape);
  std::string beyond;  // the first value that is; all points are read, as one stored by an earlier version keeps them
  for (const auto& pair : value) {
    const bool formed = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number();
    if (!formed) return utility.fail("piecewise", "WrongType", shape);
    auto at = parse_duration(pair[0].get<std::string>());
    if (!at) return utility.fail("piecewise", "Invalid", "has a time that is no duration: " + at.error().message);
    const auto worth = pair[1].get<double>();
    if (std::abs(worth) > kUtilityMost && beyond.empty()) beyond = pair[1].dump();
    scaling.utility_piecewise.push_back({.at = at.value(), .value = worth});
  }
  if (!beyond.empty()) {
    utility.fail("piecewise", "OutOfRange", "has a value of " + beyond + "; it must be from -1e12 to 1e12");
  }
  const auto out_of_order = [](const UtilityPoint& a, const UtilityPoint& b) {
    return b.at <= a.at || b.value >= a.value;
  };
  const auto& points = scaling.utility_piecewise;
  if (std::adjacent_find(points.begin(), points.end(), out_of_order) != points.end()) {
    utility.fail("piecewise", "Invalid", "must have rising times and falling values");
  }
}

std::optional<Money> read_price_cap(ObjectReader& in) {
  const json& value = in.raw("price_cap");
  if (value.is_null()) return std::nullopt;
  auto price = parse_money(amount_text(value));
  if (!price) {
    in.fail("price_cap", "Invalid", "is no amount of money: " + price.error().message);
    return std::nullopt;
  }
  return price.value();
}

json utility_document(const ScalingFields& scaling) {
  if (scaling.utility_linear_value) {
    return {
        {"linear", {{"value", *scaling.utility_linear_value}, {"zero_at", to_text(*scaling.utility_linear_zero_at)}}}};
  }
  if (scaling.utility_piecewise.empty()) return nullptr;
  json points = json::array();
  for (const auto& point : scaling.utility_piecewise) points.push_back(json::array({to_text(point.at), point.value}));
  return {{"piecewise", std::move(points)}};
}

}  // namespace

ScalingFields read_scaling(const json& value, Errors& errors) {
  ScalingFields scaling;
  ObjectReader in(value, "/scaling", errors);
  scaling.policy = in.text("policy", "default");
  scaling.every_steps = in.integer("every_steps", scaling.every_steps, {.low = 1, .high = 1'000'000});
  scaling.spawn_size = static_cast<int>(in.integer("spawn_size", 1, {.low = 1, .high = kWorkersMax}));
  scaling.efficiency_threshold = in.number("efficiency_threshold", scaling.efficiency_threshold, 0, 1);
  scaling.price_cap = read_price_cap(in);
  ObjectReader utility(in.raw("utility"), "/scaling/utility", errors);
  if (utility.has("linear")) read_linear(utility.raw("linear"), scaling, errors);
  if (utility.has("piecewise")) {
    if (utility.has("linear")) utility.fail("piecewise", "Invalid", "cannot be given together with linear; keep one");
    read_piecewise(utility, scaling);
  }
  utility.finish();
  in.finish();
  return scaling;
}

json scaling_document(const ScalingFields& scaling) {
  return {{"policy", scaling.policy},
          {"every_steps", scaling.every_steps},
          {"spawn_size", scaling.spawn_size},
          {"efficiency_threshold", scaling.efficiency_threshold},
          {"utility", utility_document(scaling)},
          {"price_cap", scaling.price_cap ? json(to_text(*scaling.price_cap)) : json(nullptr)}};
}

}  // namespace tidepool::api::v1
