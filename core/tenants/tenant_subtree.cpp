#include "core/tenants/tenant_subtree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/refusals.hpp"
#include "core/state/tenant_settings.hpp"

namespace tidepool::core {
namespace {

std::set<std::string_view> names_below(const TenantTree& tree, std::string_view above) {
  std::set<std::string_view> names;
  for (const Tenant& tenant : tree.tenants) {
    if (tenant.parent == above || names.contains(tenant.parent)) names.insert(tenant.name);
  }
  return names;
}

using Path = std::vector<const Tenant*>;  // from the pool down

// The nearest tenant on the path that sets it; null: none does.
template <class T>
const Tenant* nearest_with(const Path& above, std::optional<T> Tenant::* limit) {
  const auto found = std::find_if(above.rbegin(), above.rend(), [&](const Tenant* any) { return any->*limit; });
  return found == above.rend() ? nullptr : *found;
}

template <class T>
Status check_setting(const Tenant&, const Path&, const TenantSetting<T>&) {
  return ok_status();  // a setting that always has a value is not a limit
}
template <class T>
Status check_setting(const Tenant& tenant, const Path& path, const TenantSetting<std::optional<T>>& row) {
  if (row.below != SetBelow::kNoLooser || !(tenant.*row.field)) return ok_status();
  const Tenant* above = nearest_with(path, row.field);
  if (above == nullptr || *(tenant.*row.field) <= *(above->*row.field)) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": " + row.name + " " + limit_text(*(tenant.*row.field)) +
                          " is looser than the " + limit_text(*(above->*row.field)) + " of tenant \"" + above->name +
                          "\", which limits it; set at most that, or leave it out");
}

Status check_borrow(const Tenant& tenant, const Path& path) {
  const Tenant* above = nearest_with(path, &Tenant::borrow);
  if (above == nullptr || !tenant.borrow) return ok_status();
  const std::int64_t most = std::int64_t{tenant.guarantee} + *tenant.borrow;
  const std::int64_t allowed = std::int64_t{above->guarantee} + *above->borrow;
  if (most <= allowed) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": guarantee and borrow are " + std::to_string(most) +
                          " slots, looser than the " + std::to_string(allowed) + " of tenant \"" + above->name +
                          "\"; set at most that, or leave borrow out");
}

Status check_exclusive(const Tenant& tenant, const Path& path) {
  const auto above = std::find_if(path.rbegin(), path.rend(), [](const Tenant* any) { return !any->exclusive_nodes; });
  if (above == path.rend() || !tenant.exclusive_nodes) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": exclusive_nodes is not granted to tenant \"" +
                          (*above)->name + "\" above it; leave it out, or ask an operator");
}

void check_limits(const Tenant& tenant, const Path& above, Refusals& refusals) {
  for_each_setting([&](const auto& row) { refusals.add(check_setting(tenant, above, row)); });
  refusals.add(check_borrow(tenant, above));
  refusals.add(check_exclusive(tenant, above));
}

int unlent(const Tenant& tenant) {
  return tenant.lend ? std::max(0, tenant.guarantee - *tenant.lend) : 0;
}

// Guaranteed slots that no other tenant may have: the tenant does not lend them, or one below it does not.
std::int64_t kept_below(const TenantTree& tree, std::string_view above) {
  std::map<std::string_view, std::int64_t> below;  // by parent
  for (auto tenant = tree.tenants.rbegin(); tenant != tree.tenants.rend(); ++tenant) {
    const std::int64_t kept = std::max(std::int64_t{unlent(*tenant)}, below[tenant->name]);
    below[tenant->parent] += std::min(kept, std::int64_t{tenant->guarantee});
  }
  return below[above];
}

}  // namespace

std::vector<Tenant> tenants_below(const TenantTree& tree, std::string_view above) {
  const auto names = names_below(tree, above);
  std::vector<Tenant> below;
  for (const Tenant& tenant : tree.tenants) {
    if (names.contains(tenant.name)) below.push_back(tenant);
  }
  return below;
}

TenantTree with_tenants_below(TenantTree tree, std::string_view above, const std::vector<Tenant>& below) {
  std::vector<Tenant> tenants;
  const auto names = names_below(tree, above);
  for (const Tenant& tenant : tree.tenants) {
    if (names.contains(tenant.name)) continue;
    tenants.push_back(tenant);
    if (tenant.name == above) tenants.insert(tenants.end(), below.begin(), below.end());
  }
  tree.tenants = std::move(tenants);
  return tree;
}

Status check_within(const TenantTree& tree, std::string_view above) {
  const TenantsByName by_name(tree);
  const Tenant* admins = by_name.find(above);
  if (admins == nullptr) return not_found("there is no tenant " + std::string(above));
  Refusals refusals;
  for (const Tenant& tenant : tenants_below(tree, above)) {
    check_limits(tenant, by_name.path_to(tenant.parent), refusals);
  }
  const std::int64_t kept = kept_below(tree, above);
  const std::int64_t allowed = unlent(*admins);
  if (kept > allowed) {
    refusals.add(invalid_argument("the tenants below \"" + std::string(above) + "\" would keep " +
                                  std::to_string(kept) +
                                  " slots of their guarantees from others (lend), more than the " +
                                  std::to_string(allowed) + " that it keeps itself; raise what they lend"));
  }
  return refusals.status();
}

}  // namespace tidepool::core
