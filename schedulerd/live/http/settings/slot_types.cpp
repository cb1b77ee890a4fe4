#include "schedulerd/live/http/settings/slot_types.hpp"

#include <cstddef>
#include <map>

#include "base/word_list.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::size_t kTenantsNamed = 5;

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

}  // namespace tidepool::live::http
