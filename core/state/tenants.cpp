#include "core/state/tenants.hpp"

#include <algorithm>
#include <set>

namespace tidepool::core {
namespace {

constexpr std::size_t kDepthMost = 8;
constexpr std::size_t kTenantsMost = 10'000;
constexpr std::int64_t kWeightMost = 1'000'000;
constexpr int kSlotsMost = 10'000'000;

Error wrong(const Tenant& tenant, const std::string& what) {
  return invalid_argument("tenant \"" + tenant.name + "\": " + what);
}

bool is_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), fits);
}

bool is_count(const std::optional<int>& slots) {
  return !slots || (*slots >= 0 && *slots <= kSlotsMost);
}

Status check_numbers(const Tenant& tenant) {
  if (!is_name(tenant.name)) return wrong(tenant, "a name has 1 to 63 letters, digits, '-', '_' or '.'");
  if (!is_count(tenant.guarantee)) return wrong(tenant, "guarantee is a number of slots, 0 or more");
  if (tenant.weight < 0 || tenant.weight > kWeightMost) return wrong(tenant, "weight is from 0 to 1,000,000");
  if (!is_count(tenant.borrow))
    return wrong(tenant, "borrow is a number of slots, 0 or more; leave it out for no limit");
  if (!is_count(tenant.lend)) return wrong(tenant, "lend is a number of slots, 0 or more; leave it out to lend all");
  if (tenant.job_slots_max && *tenant.job_slots_max < 1) return wrong(tenant, "job_slots_max is 1 or more");
  if (tenant.job_price_max && *tenant.job_price_max <= Money()) return wrong(tenant, "job_price_max is above 0");
  if (tenant.notice_extension &&
      (*tenant.notice_extension < Duration() || *tenant.notice_extension > kNoticeExtensionMost)) {
    return wrong(tenant, "notice_extension is from 0s to 24h");
  }
  if (tenant.budget) {
    if (const Status fits = check_budget(*tenant.budget); !fits.ok()) return wrong(tenant, fits.error().message);
  }
  return ok_status();
}

// What is promised below a tenant is a part of what it is promised itself.
Status check_guarantees(const TenantTree& tree) {
  std::map<std::string, std::int64_t> below;
  for (const Tenant& tenant : tree.tenants) below[tenant.parent] += tenant.guarantee;
  for (const Tenant& tenant : tree.tenants) {
    const auto promised = below.find(tenant.name);
    if (promised == below.end() || promised->second <= tenant.guarantee) continue;
    return wrong(tenant, "the tenants below it are guaranteed " + std::to_string(promised->second) + " slots, it has " +
                             std::to_string(tenant.guarantee) + "; raise its guarantee or lower theirs");
  }
  return ok_status();
}

}  // namespace

const Tenant* TenantTree::find(std::string_view name) const {
  const auto found =
      std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.name == name; });
  return found == tenants.end() ? nullptr : &*found;
}

bool TenantTree::is_leaf(std::string_view name) const {
  return std::none_of(tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.parent == name; });
}

std::vector<const Tenant*> TenantTree::path_to(std::string_view name) const {
  // Each stands after its parent, so one look from the end finds them all.
  std::vector<const Tenant*> path;
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend() && !name.empty(); ++tenant) {
    if (tenant->name != name) continue;
    path.push_back(&*tenant);
    name = tenant->parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Duration TenantTree::notice_extension_of(std::string_view name) const {
  std::optional<Duration> least;
  for (const Tenant* tenant : path_to(name)) {
    if (tenant->notice_extension) least = std::min(*tenant->notice_extension, least.value_or(kNoticeExtensionMost));
  }
  return least.value_or(Duration());
}

Status check_tenants(const TenantTree& tree) {
  if (tree.tenants.size() > kTenantsMost) return invalid_argument("there can be at most 10,000 tenants");
  if (tree.half_life <= Duration()) return invalid_argument("half_life is above 0");
  if (tree.rebalance_every <= Duration()) return invalid_argument("rebalance_every is above 0");
  std::map<std::string, std::size_t> depth;
  for (const Tenant& tenant : tree.tenants) {
    TP_TRY(check_numbers(tenant));
    const auto parent = depth.find(tenant.parent);
    if (!tenant.parent.empty() && parent == depth.end()) {
      return wrong(tenant, "its parent \"" + tenant.parent + "\" is not there before it");
    }
    const std::size_t at = tenant.parent.empty() ? 1 : parent->second + 1;
    if (at > kDepthMost) return wrong(tenant, "it is more than 8 levels deep");
    if (!depth.emplace(tenant.name, at).second) return wrong(tenant, "there are two of this name");
  }
  return check_guarantees(tree);
}

}  // namespace tidepool::core
