#include "core/state/listed_price.hpp"

#include <algorithm>
#include <string>

#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

// What rules match, apart from labels.
struct Kind {
  const std::string& slot_type;
  const std::string& pool;  // empty = of none
  bool spot = false;
};

bool names(const PriceRule& rule, const Kind& kind) {
  return (rule.slot_type.empty() || rule.slot_type == kind.slot_type) && (rule.pool.empty() || rule.pool == kind.pool);
}

PriceSource source_of(const PriceList& list, const Kind& kind, auto&& has_labels) {
  PriceSource source{.rules = {}, .spot = kind.spot};
  for (const PriceRule& rule : list.rules) {
    if (names(rule, kind) && has_labels(rule)) source.rules.push_back(&rule);
  }
  return source;
}

Money own_of(const auto& listed, const auto& key, Money price) {
  const auto found = listed.find(key);
  return found == listed.end() ? price : found->second.own;
}

}  // namespace

PriceSource price_source(const PriceList& list, const Node& node, const NodePool* pool) {
  static const std::string none;
  const std::string* label = label_of(node, kSpotLabel);
  const Kind kind{.slot_type = node.slot_type,
                  .pool = pool == nullptr ? none : pool->spec.name,
                  .spot = (pool != nullptr && pool->spec.spot) || (label != nullptr && *label == "true")};
  return source_of(list, kind, [&](const PriceRule& rule) {
    return std::all_of(rule.labels.begin(), rule.labels.end(), [&](const auto& asked) {
      const std::string* has = label_of(node, asked.first);
      return has != nullptr && *has == asked.second;
    });
  });
}

PriceSource price_source(const PriceList& list, const PoolSpec& pool) {
  const Kind kind{.slot_type = pool.slot_type, .pool = pool.name, .spot = pool.spot};
  return source_of(list, kind, [](const PriceRule& rule) { return rule.labels.empty(); });
}

std::optional<PriceByRule> price_by(const PriceSource& source, std::int64_t unix_us) {
  for (const PriceRule* rule : source.rules) {
    const auto price = price_at(*rule, unix_us);
    if (price) return PriceByRule{source.spot ? with_discount(*price, rule->spot_discount) : *price, rule};
  }
  return std::nullopt;
}

Money own_price(const ClusterState& state, const Node& node) {
  return own_of(state.prices->nodes, node.id, node.price_per_slot_hour);
}

Money own_price(const ClusterState& state, const PoolSpec& pool) {
  return own_of(state.prices->pools, pool.name, pool.price_per_slot_hour);
}

}  // namespace tidepool::core
