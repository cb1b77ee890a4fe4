#include "api/v1/price_list.hpp"

#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;

constexpr std::int64_t kMicros = 1'000'000;  // a second
constexpr std::size_t kRuleNameMost = 63;

Money read_amount(ObjectReader& in, std::string_view field) {
  const json& value = in.raw(field);
  if (value.is_null()) {
    in.fail(field, "Missing", "is needed: what a slot costs an hour, such as 2.50");
    return {};
  }
  const auto price = parse_price(amount_text(value));
  if (price.ok()) return *price;
  in.fail(field, "Invalid", "is no amount of money: " + price.error().message);
  return {};
}

std::optional<std::int64_t> read_from(ObjectReader& in) {
  const json& value = in.raw("from");
  if (value.is_null()) return std::nullopt;
  const auto at = value.is_string() ? micros_of(value.get<std::string>()) : std::nullopt;
  if (at && *at % kMicros == 0) return at;
  in.fail("from", value.is_string() ? "Invalid" : "WrongType",
          "must be a time in UTC in whole seconds, such as \"2026-12-01T00:00:00Z\"");
  return std::nullopt;
}

std::uint8_t read_days(ObjectReader& in) {
  const json& days = in.raw("days");
  if (days.is_null()) return kAllDays;
  if (!days.is_array() || days.empty()) {
    in.fail("days", "WrongType", "must be a list such as [sat, sun]; leave it out for all days");
    return kAllDays;
  }
  unsigned bits = 0;
  for (const json& day : days) {
    const auto bit = parse_day(day.is_string() ? day.get<std::string>() : std::string());
    if (!bit.ok()) in.fail("days", "Invalid", bit.error().message);
    bits |= bit.ok() ? *bit : 0U;
  }
  return static_cast<std::uint8_t>(bits);
}

class ListReading {
 public:
  explicit ListReading(PriceListFindings& findings) : findings_(findings) {}

  void read_rules(const json& rules) {
    each_of(rules, "/rules", "must be a list such as [{name: h100, slot_type: h100, entries: [{price: 2.50}]}]",
            [&](const json& value, const std::string& pointer) {
              findings_.list.rules.push_back(read_rule(value, pointer));
            });
  }

 private:
  void each_of(const json& list, const std::string& pointer, const char* shape, auto&& read) {
    if (!list.is_array()) return findings_.errors.push_back({pointer, "WrongType", shape});
    for (std::size_t i = 0; i < list.size(); ++i) read(list[i], pointer + "/" + std::to_string(i));
  }

  PriceRule read_rule(const json& value, const std::string& pointer) {
    ObjectReader in(value, pointer, findings_.errors);
    PriceRule rule;
    rule.name = in.required_text("name");
    if (rule.name.size() > kRuleNameMost) in.fail("name", "OutOfRange", "has at most 63 characters");
    if (!rule.name.empty() && !names_.insert(rule.name).second) {
      in.fail("name", "Invalid", "is \"" + rule.name + "\", which another rule has too");
    }
    rule.slot_type = in.text("slot_type", "");
    rule.pool = in.text("pool", "");
    rule.labels = read_labels(in);
    rule.spot_discount = static_cast<int>(in.integer("spot_discount", 0, {.low = 0, .high = 100}));
    const json entries = in.raw("entries");
    in.finish();
    if (entries.is_null() || entries == json::array()) {
      in.fail("entries", "Missing", "is needed: a list of prices such as [{price: 2.50}]");
    } else {
      each_of(entries, pointer + "/entries", "must be a list such as [{price: 2.50}]",
              [&](const json& entry, const std::string& at) { rule.entries.push_back(read_entry(entry, at)); });
    }
    check_order(in, rule);
    return rule;
  }

  std::map<std::string, std::string> read_labels(ObjectReader& in) {
    std::map<std::string, std::string> labels;
    const json& value = in.raw("labels");
    if (value.is_null()) return labels;
    if (!value.is_object()) {
      in.fail("labels", "WrongType", "must be labels of nodes such as {zone: eu}");
      return labels;
    }
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) in.fail("labels", "WrongType", "\"" + key + "\" must have a text");
      if (text.is_string()) labels.emplace(key, text.get<std::string>());
    }
    return labels;
  }

  PriceEntry read_entry(const json& value, const std::string& pointer) {
    ObjectReader in(value, pointer, findings_.errors);
    PriceEntry entry;
    entry.from_us = read_from(in);
    entry.price = read_amount(in, "price");
    const json schedule = in.raw("schedule");
    in.finish();
    if (schedule.is_null()) return entry;
    each_of(schedule, pointer + "/schedule", "must be a list such as [{hours: 22-06, price: 1.50}]",
            [&](const json& window, const std::string& at) { entry.schedule.push_back(read_window(window, at)); });
    return entry;
  }

  PriceWindow read_window(const json& value, const std::string& pointer) {
    ObjectReader in(value, pointer, findings_.errors);
    PriceWindow window;
    window.days = read_days(in);
    const std::string hours = in.text("hours", "00-24");
    if (const Status read = parse_hours(hours, window); !read.ok()) in.fail("hours", "Invalid", read.error().message);
    window.price = read_amount(in, "price");
    in.finish();
    return window;
  }

  static void check_order(ObjectReader& in, const PriceRule& rule) {
    for (std::size_t i = 1; i < rule.entries.size(); ++i) {
      const auto& before = rule.entries[i - 1].from_us;
      const auto& from = rule.entries[i].from_us;
      if (from && (!before || *before < *from)) continue;
      in.fail("entries", "Invalid", "must stand in the order of their times, and only the first may lack \"from\"");
      return;
    }
  }

  PriceListFindings& findings_;
  std::set<std::string> names_;
};

}  // namespace

PriceListFindings read_price_list(const json& document) {
  PriceListFindings findings;
  if (!document.is_object()) {
    findings.errors.push_back({"", "WrongType", "the prices must be an object with the field rules"});
    return findings;
  }
  ObjectReader in(document, "", findings.errors);
  const json rules = in.raw("rules");
  in.finish();
  if (rules.is_null()) {
    in.fail("rules", "Missing", "is needed: the list of prices, or [] for what tokens and pools say");
    return findings;
  }
  ListReading(findings).read_rules(rules);
  const Status checked = findings.errors.empty() ? check_price_list(findings.list) : ok_status();
  if (!checked.ok()) in.fail("rules", "Invalid", checked.error().message);
  return findings;
}

}  // namespace tidepool::api::v1
