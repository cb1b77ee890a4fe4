// The prices that an operator's price list (base/price_list.hpp) sets for nodes and pools. Plain data; only
// Engine::step changes it.
//
// Rule: Node::price_per_slot_hour and PoolSpec::price_per_slot_hour are the present prices. All code that needs a price
// reads those; the prices without the list are kept here.
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
  Money own;         // from its node token, its agent or its pool
  std::string rule;  // the rule of the list that sets the price instead
  bool operator==(const ListedPrice&) const = default;
};

struct Prices {
  PriceList list;
  std::optional<std::int64_t> next_change_us;  // since 1970, UTC: when a price of the list next changes
  SharedMap<NodeId, ListedPrice> nodes;  // those whose price a rule sets; the next field likewise for pools by name
  std::map<std::string, ListedPrice> pools;
  bool operator==(const Prices&) const = default;
};

}  // namespace tidepool::core
