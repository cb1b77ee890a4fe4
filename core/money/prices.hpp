// What an operator's list of prices (base/price_list.hpp) makes of nodes and pools. Plain data; only Engine::step
// changes it.
//
// Rule: Node::price_per_slot_hour and PoolSpec::price_per_slot_hour are the prices now. Whatever reads a price reads
// those; what they would be without the list is kept here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/price_list.hpp"
#include "base/shared_map.hpp"

namespace tidepool::core {

struct ListedPrice {
  Money own;         // of its node token, its agent or its pool
  std::string rule;  // of the list, which sets the price instead
  bool operator==(const ListedPrice&) const = default;
};

struct Prices {
  PriceList list;
  std::optional<std::int64_t> next_change_us;  // since 1970, UTC: when a price of the list is another one
  SharedMap<NodeId, ListedPrice> nodes;        // those whose price a rule sets, and likewise pools by name
  std::map<std::string, ListedPrice> pools;
  bool operator==(const Prices&) const = default;
};

}  // namespace tidepool::core
