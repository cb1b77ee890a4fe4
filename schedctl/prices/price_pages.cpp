#include "schedctl/prices/price_pages.hpp"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kNoPrices =
    "no prices are listed: nodes cost what their tokens and pools say; docs/prices.md shows a file for: schedctl "
    "prices "
    "apply FILE\n";
constexpr std::size_t kWeekDays = 7;

// What slots it is for: "h100, pool spot, zone=eu".
std::string slots_of(const json& rule) {
  std::string text = text_at(rule, "/slot_type");
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!text_at(rule, "/pool").empty()) add("pool " + text_at(rule, "/pool"));
  for (const auto& [key, value] : rule.at("labels").items()) add(printable(key + "=" + value.get<std::string>()));
  return text.empty() ? "all" : text;
}

std::string days_text(const json& window) {
  std::string text;
  if (list_at(window, "/days").size() == kWeekDays) return text;
  for (const auto& day : list_at(window, "/days")) text += " " + day.get<std::string>();
  return text;
}

std::string entry_text(const json& entry) {
  const std::string from = text_at(entry, "/from");
  std::string text = text_at(entry, "/price") + (from.empty() ? "" : " from " + from);
  for (const auto& window : list_at(entry, "/schedule")) {
    text += ", " + text_at(window, "/price") + " in " + text_at(window, "/hours") + days_text(window);
  }
  return text;
}

ordered_json window_document(const json& window) {
  ordered_json out = ordered_json::object();
  const bool all_day = text_at(window, "/hours") == "00-24";
  const bool all_days = list_at(window, "/days").size() == kWeekDays;
  if (!all_day || all_days) out["hours"] = window.at("hours");
  if (!all_days) out["days"] = window.at("days");
  out["price"] = window.at("price");
  return out;
}

ordered_json entry_document(const json& entry) {
  ordered_json out = ordered_json::object();
  if (!entry.at("from").is_null()) out["from"] = entry.at("from");
  out["price"] = entry.at("price");
  for (const auto& window : list_at(entry, "/schedule")) out["schedule"].push_back(window_document(window));
  return out;
}

}  // namespace

std::string prices_table(const json& prices, const Style& style) {
  if (list_at(prices, "/rules").empty()) return kNoPrices;
  TextTable table({{.title = "RULE"},
                   {.title = "SLOTS", .flexible = true},
                   {.title = "NOW", .right = true},
                   {.title = "CHANGES (UTC)"},
                   {.title = "SPOT"},
                   {.title = "NODES", .right = true},
                   {.title = "PRICES AN HOUR", .flexible = true}});
  for (const auto& rule : list_at(prices, "/rules")) {
    const std::string discount = integer_at(rule, "/spot_discount");
    const std::string changes = text_at(rule, "/now/changes_at");
    std::vector<std::string> cells = {printable(text_at(rule, "/name")),
                                      slots_of(rule),
                                      text_at(rule, "/now/price", "-"),
                                      changes.empty() ? "-" : moment_of(changes),
                                      discount == "0" ? "-" : "-" + discount + " %",
                                      integer_at(rule, "/now/nodes"),
                                      ""};
    for (const auto& entry : list_at(rule, "/entries")) {
      cells.back() = entry_text(entry);
      table.add(cells);
      cells.assign(cells.size(), "");
    }
  }
  return table.text(style) + warnings_text(prices, style);
}

ordered_json prices_document(const json& prices, const std::string& /*below*/) {
  ordered_json rules = ordered_json::array();
  for (const auto& rule : list_at(prices, "/rules")) {
    ordered_json out = {{"name", rule.at("name")}};
    for (const char* field : {"slot_type", "pool"}) {
      if (!rule.at(field).is_null()) out[field] = rule.at(field);
    }
    if (!rule.at("labels").empty()) out["labels"] = rule.at("labels");
    if (rule.at("spot_discount") != 0) out["spot_discount"] = rule.at("spot_discount");
    for (const auto& entry : list_at(rule, "/entries")) out["entries"].push_back(entry_document(entry));
    rules.push_back(std::move(out));
  }
  return {{"rules", std::move(rules)}};
}

}  // namespace tidepool::ctl
