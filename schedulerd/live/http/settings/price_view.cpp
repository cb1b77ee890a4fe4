#include "schedulerd/live/http/settings/price_view.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "core/state/listed_price.hpp"
#include "schedulerd/live/http/settings/settings_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json from_of(const PriceEntry& entry) {
  return entry.from_us ? json(timestamp_text(*entry.from_us / 1'000'000)) : json(nullptr);
}

json window_settings(const PriceWindow& window) {
  return {{"hours", hours_text(window)}, {"days", days_of(window)}, {"price", to_text(window.price)}};
}

// "2.80 from 2026-12-01T00:00:00Z, 1.90 in 22-06 of sat, sun"
std::string entry_text(const PriceEntry& entry) {
  std::string text = to_text(entry.price);
  if (entry.from_us) text += " from " + timestamp_text(*entry.from_us / 1'000'000);
  for (const PriceWindow& window : entry.schedule) {
    text += ", " + to_text(window.price) + " in " + hours_text(window);
    if (window.days != kAllDays) text += " of " + word_list(days_of(window));
  }
  return text;
}

json settings_but_entries(const PriceRule& rule) {
  return {{"slot_type", text_or_null(rule.slot_type)},
          {"pool", text_or_null(rule.pool)},
          {"labels", rule.labels},
          {"spot_discount", rule.spot_discount}};
}

json settings_in_lines(const PriceRule& rule) {
  json settings = settings_but_entries(rule);
  json& entries = settings["entries"] = json::array();
  for (const PriceEntry& entry : rule.entries) entries.push_back(entry_text(entry));
  return settings;
}

SettingsDocument document_of(const PriceList& list) {
  SettingsDocument document;
  for (const PriceRule& rule : list.rules) document.entries.push_back({rule.name, settings_in_lines(rule)});
  return document;
}

void add_source(const auto& listed, const auto& key, Money own, json& out) {
  const auto found = listed.find(key);
  const bool by_rule = found != listed.end();
  out["price_rule"] = by_rule ? json(found->second.rule) : json(nullptr);
  out["own_price_per_slot_hour"] = to_text(own);
}

}  // namespace

json rule_settings(const PriceRule& rule) {
  json settings = settings_but_entries(rule);
  json& entries = settings["entries"] = json::array();
  for (const PriceEntry& entry : rule.entries) {
    json schedule = json::array();
    for (const PriceWindow& window : entry.schedule) schedule.push_back(window_settings(window));
    entries.push_back({{"from", from_of(entry)}, {"price", to_text(entry.price)}, {"schedule", std::move(schedule)}});
  }
  return settings;
}

json price_changes(const PriceList& before, const PriceList& after) {
  return settings_changes("rule", document_of(before), document_of(after), settings_in_lines({}));
}

std::string prices_etag(const PriceList& list) {
  return settings_etag(price_changes({}, list));
}

void add_price_source(const core::ClusterState& state, const core::Node& node, json& out) {
  add_source(state.prices->nodes, node.id, core::own_price(state, node), out);
}

void add_price_source(const core::ClusterState& state, const core::PoolSpec& pool, json& out) {
  add_source(state.prices->pools, pool.name, core::own_price(state, pool), out);
}

}  // namespace tidepool::live::http
