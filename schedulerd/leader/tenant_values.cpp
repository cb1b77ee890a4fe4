#include "schedulerd/leader/tenant_values.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/money.hpp"
#include "core/state/tenant_settings.hpp"

namespace tidepool::leader {
namespace {

using nlohmann::json;

constexpr Money kMoneyMost = Money::micros(100'000'000'000'000'000);  // ten times it can be counted

std::optional<int> optional_integer(ObjectReader& in, std::string_view field, ObjectReader::Range range) {
  if (!in.has(field)) return std::nullopt;
  return static_cast<int>(in.integer(field, range.low, range));
}

std::optional<Money> read_price(ObjectReader& in, std::string_view field, const std::string& left_out) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  const auto price = parse_money(amount_text(value));
  if (!price.ok()) {
    in.fail(field, "Invalid", "is no amount of money: " + price.error().message);
    return std::nullopt;
  }
  if (*price <= Money()) in.fail(field, "OutOfRange", "must be above 0; leave " + left_out + " out for no limit");
  if (*price > kMoneyMost) in.fail(field, "OutOfRange", "must be at most " + to_text(kMoneyMost));
  return *price;
}

// 0s up to the most.
std::optional<Duration> read_up_to(ObjectReader& in, std::string_view field, Duration most, const std::string& hint) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  const auto duration = parse_duration(value.is_string() ? value.get<std::string>() : std::string());
  if (!duration.ok()) {
    in.fail(field, value.is_string() ? "Invalid" : "WrongType", "must be a duration with a unit, such as \"2m\"");
    return std::nullopt;
  }
  const bool fits = *duration >= Duration() && *duration <= most;
  if (!fits) in.fail(field, "OutOfRange", "must be from 0s to " + to_text(most) + hint);
  return *duration;
}

// The value whose text a file gives. What is none of them is a finding, and the first.
template <class Enum, std::size_t N>
Enum read_word(ObjectReader& in, std::string_view field, const std::string& word, const std::array<Enum, N>& values) {
  std::string list;
  for (const Enum value : values) {
    if (word == to_text(value)) return value;
    list += (list.empty() ? "" : ", ") + std::string(to_text(value));
  }
  in.fail(field, "Invalid", "must be one of " + list);
  return values.front();
}

std::vector<core::BudgetThreshold> read_thresholds(const json& list, ObjectReader& budget,
                                                   std::vector<FieldError>& errors) {
  std::vector<core::BudgetThreshold> thresholds;
  if (!list.is_array() || list.empty() || list.size() > core::kThresholdsMost) {
    budget.fail("thresholds", "WrongType", "must be a list of 1 to 16, such as [{percent: 100, action: pause}]");
    return thresholds;
  }
  int before = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ObjectReader in(list[i], budget.pointer_of("thresholds") + "/" + std::to_string(i), errors);
    const auto percent =
        static_cast<int>(in.required_integer("percent", {.low = 1, .high = core::kThresholdPercentMost}));
    const std::string action = in.required_text("action");
    in.finish();
    core::BudgetThreshold threshold{.percent = percent};
    if (!action.empty()) threshold.action = read_word(in, "action", action, core::kBudgetActions);
    if (percent > 0 && percent <= before) in.fail("percent", "Invalid", "must be above that of the one before");
    before = std::max(before, percent);
    thresholds.push_back(threshold);
  }
  return thresholds;
}

// Such as {a100: 4, v100: 2}.
std::map<std::string, int> read_by_type(ObjectReader& in, std::string_view field, int most) {
  std::map<std::string, int> slots;
  const json& value = in.raw(field);
  if (value.is_null()) return slots;
  if (!value.is_object()) {
    in.fail(field, "WrongType", "must name types of slots, each with a number of them, such as {a100: 4}");
    return slots;
  }
  for (const auto& [type, count] : value.items()) {
    const bool is_count =
        count.is_number_integer() && count.get<std::int64_t>() >= 0 && count.get<std::int64_t>() <= most;
    if (type.empty() || !is_count) {
      in.fail(field, "Invalid", "gives type \"" + type + "\" something else than a number of slots, 0 or more");
      continue;
    }
    slots[type] = static_cast<int>(count.get<std::int64_t>());
  }
  return slots;
}

// One overload for each type that a setting has.
void read_setting(ObjectReader& in, const core::TenantSetting<bool>& row, bool& value) {
  value = in.boolean(row.name, value);
}
template <std::integral N>
void read_setting(ObjectReader& in, const core::TenantSetting<N>& row, N& value) {
  value = static_cast<N>(in.integer(row.name, value, {.low = row.least, .high = row.most}));
}
void read_setting(ObjectReader& in, const core::TenantSetting<std::optional<int>>& row, std::optional<int>& value) {
  value = optional_integer(in, row.name, {.low = row.least, .high = row.most});
}
void read_setting(ObjectReader& in, const core::TenantSetting<std::optional<Money>>& row, std::optional<Money>& value) {
  value = read_price(in, row.name, "it");
}
void read_setting(ObjectReader& in, const core::TenantSetting<std::optional<Duration>>& row,
                  std::optional<Duration>& value) {
  value = read_up_to(in, row.name, row.most, "; leave it out for no limit of its own");
}
void read_setting(ObjectReader& in, const core::TenantSetting<Duration>& row, Duration& value) {
  value = read_up_to(in, row.name, row.most, "").value_or(value);
}
void read_setting(ObjectReader& in, const core::TenantSetting<std::map<std::string, int>>& row,
                  std::map<std::string, int>& value) {
  value = read_by_type(in, row.name, row.most);
}

}  // namespace

Duration read_duration(ObjectReader& in, std::string_view field, Duration fallback) {
  const json& value = in.raw(field);
  if (value.is_null()) return fallback;
  if (!value.is_string()) {
    in.fail(field, "WrongType", "must be a duration with a unit, such as \"5m\" or \"24h\"");
    return fallback;
  }
  const auto duration = parse_duration(value.get<std::string>());
  if (!duration.ok()) {
    in.fail(field, "Invalid", "is no duration: " + duration.error().message);
    return fallback;
  }
  if (*duration <= Duration()) in.fail(field, "OutOfRange", "must be above 0");
  return *duration;
}

Duration read_delay(ObjectReader& in, std::string_view field) {
  return read_up_to(in, field, core::kPreemptAfterMost, "").value_or(Duration());
}

void read_settings(ObjectReader& in, core::Tenant& tenant) {
  core::for_each_setting([&](const auto& row) { read_setting(in, row, tenant.*row.field); });
}

std::optional<core::Budget> read_budget(const json& value, const std::string& pointer,
                                        std::vector<FieldError>& errors) {
  if (value.is_null()) return std::nullopt;
  ObjectReader in(value, pointer, errors);
  core::Budget budget;
  budget.thresholds = {{80, core::BudgetAction::kWarn}, {100, core::BudgetAction::kPause}};
  if (!value.is_object()) return budget;
  const auto limit = read_price(in, "limit", "budget");
  if (!in.has("limit")) in.fail("limit", "Missing", "is needed: what may be spent in a window, such as 500.00");
  budget.limit = limit.value_or(Money::micros(1));
  budget.window = read_word(in, "window", in.text("window", to_text(budget.window)), core::kBudgetWindows);
  const json thresholds = in.raw("thresholds");
  if (!thresholds.is_null()) budget.thresholds = read_thresholds(thresholds, in, errors);
  in.finish();
  return budget;
}

std::optional<core::ChurnLimit> read_churn(const json& value, const std::string& pointer,
                                           std::vector<FieldError>& errors) {
  if (value.is_null()) return std::nullopt;
  ObjectReader in(value, pointer, errors);
  core::ChurnLimit churn;
  if (!value.is_object()) return churn;
  churn.per_job = optional_integer(in, "per_job", {.low = 1, .high = core::kChurnPerJobMost});
  churn.pool = optional_integer(in, "pool", {.low = 1, .high = core::kChurnOfPoolMost});
  churn.window = read_duration(in, "window", churn.window);
  if (churn.window > core::kChurnWindowMost) in.fail("window", "OutOfRange", "must be at most 24h");
  if (!in.has("per_job") && !in.has("pool")) {
    in.fail("per_job", "Missing", "is needed, or pool: how many preemptions there may be in a window");
  }
  in.finish();
  return churn;
}

}  // namespace tidepool::leader
