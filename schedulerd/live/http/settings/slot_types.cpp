#include "schedulerd/live/http/settings/slot_types.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "base/word_list.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::size_t kTenantsNamed = 5;

using SlotsByType = std::map<std::string, std::int64_t>;  // a tenant may be guaranteed ten million

// Of all nodes that are known, and of those that pools may have.
SlotsByType slots_by_type(const core::ClusterState& state) {
  SlotsByType slots;
  for (const auto& [id, node] : state.nodes) {
    if (state.has_gone(node) || state.pools.find_name(node.name) != nullptr) continue;
    slots[node.slot_type] += std::ssize(node.owners);
  }
  for (const auto& [name, pool] : state.pools.pools) {
    slots[pool.spec.slot_type] += std::int64_t{pool.spec.max} * pool.spec.slots_per_node;
  }
  return slots;
}

std::int64_t sum_of(const SlotsByType& slots) {
  std::int64_t sum = 0;
  for (const auto& [type, count] : slots) sum += count;
  return sum;
}

std::string beyond_text(const std::string& of_type, std::int64_t promised, std::int64_t slots) {
  return "the guarantees" + of_type + " of the tenants at the top are " + std::to_string(promised) +
         " slots together, and the pool has " + std::to_string(slots) + (of_type.empty() ? "" : " of these") +
         ": until more join, each is met in part, in proportion";
}

}  // namespace

std::set<std::string> known_slot_types(const core::ClusterState& state) {
  std::set<std::string> known;
  for (const auto& [id, node] : state.nodes) {
    if (!state.has_gone(node)) known.insert(node.slot_type);
  }
  for (const auto& [name, pool] : state.pools.pools) known.insert(pool.spec.slot_type);
  known.erase("");  // a pool's whose nodes have what their agents report
  return known;
}

std::optional<std::string> why_unknown_type(const std::set<std::string>& known, const std::string& type) {
  if (known.contains(type)) return std::nullopt;
  return "no node or pool has slots of type " + type + (known.empty() ? "" : "; known: " + word_list(known));
}

std::vector<std::string> unknown_type_warnings(const core::ClusterState& state, const core::TenantTree& tree) {
  const std::set<std::string> known = known_slot_types(state);
  if (known.empty()) return {};
  std::map<std::string, std::vector<std::string>> guaranteed;  // tenants by type
  for (const core::Tenant& tenant : tree.tenants) {
    for (const auto& [type, slots] : tenant.guarantee_by_type) {
      if (slots > 0) guaranteed[type].push_back(tenant.name);
    }
  }
  const auto more = [](std::size_t count) { return std::to_string(count) + " more"; };
  std::vector<std::string> warnings;
  for (const auto& [type, tenants] : guaranteed) {
    const auto why = why_unknown_type(known, type);
    if (!why) continue;
    warnings.push_back((tenants.size() == 1 ? "tenant " : "tenants ") + first_words(tenants, kTenantsNamed, more) +
                       (tenants.size() == 1 ? " is" : " are") + " guaranteed slots of type " + type + ", but " + *why);
  }
  return warnings;
}

std::vector<std::string> beyond_pool_warnings(const core::ClusterState& state, const core::TenantTree& tree) {
  std::int64_t promised = 0;
  SlotsByType promised_of;
  for (const core::Tenant& tenant : tree.tenants) {
    if (!tenant.parent.empty()) continue;
    promised += tenant.guarantee;
    for (const auto& [type, count] : tenant.guarantee_by_type) promised_of[type] += count;
  }
  const SlotsByType slots = slots_by_type(state);
  const std::int64_t all = sum_of(slots);
  std::vector<std::string> warnings;
  if (all > 0 && promised > all) warnings.push_back(beyond_text("", promised, all));
  if (slots.contains("")) return warnings;
  for (const auto& [type, count] : promised_of) {
    const auto there = slots.find(type);
    if (there == slots.end() || there->second == 0 || count <= there->second) continue;
    warnings.push_back(beyond_text(" of type " + type, count, there->second));
  }
  return warnings;
}

}  // namespace tidepool::live::http
