// Which rule of the price list sets the price of a node, or of a pool's future node, at a given time
// (base/price_list.hpp), and the price without such a rule. A node is spot if its pool is, or if it has the label
// spot=true.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

inline constexpr const char* kSpotLabel = "spot";  // =true

// The rules that apply to a node, in their order. They live as long as the list.
struct PriceSource {
  std::vector<const PriceRule*> rules;
  bool spot = false;
  auto operator<=>(const PriceSource&) const = default;
};
// `pool`: the node's pool; null = it belongs to none.
[[nodiscard]] PriceSource price_source(const PriceList& list, const Node& node, const NodePool* pool);
// A future node has no labels, so rules that require labels do not apply to it.
[[nodiscard]] PriceSource price_source(const PriceList& list, const PoolSpec& pool);

struct PriceByRule {
  Money price;  // with the discount of spot nodes
  const PriceRule* rule;
};
// None: no rule sets the price at that time, so its own price applies.
[[nodiscard]] std::optional<PriceByRule> price_by(const PriceSource& source, std::int64_t unix_us);

// The price if no rule sets it.
[[nodiscard]] Money own_price(const ClusterState& state, const Node& node);
[[nodiscard]] Money own_price(const ClusterState& state, const PoolSpec& pool);

}  // namespace tidepool::core
