// The fields of the price list and of the prices that it sets for nodes and pools. Private to the core's codecs.
#pragma once

#include <utility>

#include "base/codec/archive.hpp"
#include "base/price_list.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool {

void fields(auto& archive, codec::Like<PriceWindow> auto& window) {
  archive("days", window.days);
  archive("from_minute", window.from_minute);
  archive("to_minute", window.to_minute);
  archive("price", window.price);
}

void fields(auto& archive, codec::Like<PriceEntry> auto& entry) {
  archive("from_us", entry.from_us);
  archive("price", entry.price);
  archive("schedule", entry.schedule);
}

void fields(auto& archive, codec::Like<PriceRule> auto& rule) {
  archive("name", rule.name);
  archive("slot_type", rule.slot_type);
  archive("pool", rule.pool);
  archive("labels", rule.labels);
  archive("spot_discount", rule.spot_discount);
  archive("entries", rule.entries);
}

void fields(auto& archive, codec::Like<PriceList> auto& list) {
  archive("rules", list.rules);
}

namespace core {

void fields(auto& archive, codec::Like<ListedPrice> auto& listed) {
  archive("own", listed.own);
  archive("rule", listed.rule);
}

void fields(auto& archive, codec::Like<Prices> auto& prices) {
  archive("list", prices.list);
  archive("next_change_us", prices.next_change_us);
  archive("nodes", prices.nodes);
  archive("pools", prices.pools);
}

inline Status take_prices(const nlohmann::json& value, ClusterState& state) {
  Prices prices;
  TP_TRY(codec::decode(value, "/prices", prices));
  TP_TRY(check_price_list(prices.list));
  state.prices = std::move(prices);
  return ok_status();
}

}  // namespace core
}  // namespace tidepool
