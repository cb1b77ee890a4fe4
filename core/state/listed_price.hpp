// Which rule of the price list sets what a node, or a pool's node to come, costs at a time (base/price_list.hpp), and
// what it costs without one. A node is spot if its pool is, or if it has the label spot=true.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

inline constexpr const char* kSpotLabel = "spot";  // =true

// The rules that name a node, in their order. They live as long as the list.
struct PriceSource {
  std::vector<const PriceRule*> rules;
  bool spot = false;
  auto operator<=>(const PriceSource&) const = default;
};
// `pool`: the node's; null = it is of none.
[[nodiscard]] PriceSource price_source(const PriceList& list, const Node& node, const NodePool* pool);
// A node to come has no labels, so rules that ask for some do not name it.
[[nodiscard]] PriceSource price_source(const PriceList& list, const PoolSpec& pool);

struct PriceByRule {
  Money price;  // with the discount of spot nodes
  const PriceRule* rule;
};
// None: no rule sets it by then, so its own price holds.
[[nodiscard]] std::optional<PriceByRule> price_by(const PriceSource& source, std::int64_t unix_us);

// What it costs where no rule sets its price.
[[nodiscard]] Money own_price(const ClusterState& state, const Node& node);
[[nodiscard]] Money own_price(const ClusterState& state, const PoolSpec& pool);

}  // namespace tidepool::core
