#include "core/state/tenants.hpp"

#include <algorithm>
#include <set>

#include "base/refusals.hpp"
#include "core/state/tenant_settings.hpp"

namespace tidepool::core {
namespace {

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

template <class T>
bool lies_within(const T& value, const T& least, const T& most) {
  return least <= value && value <= most;
}
template <class T>
bool lies_within(const std::optional<T>& value, const T& least, const T& most) {
  return !value || lies_within(*value, least, most);
}
bool lies_within(const std::map<std::string, int>& slots, int least, int most) {
  return std::all_of(slots.begin(), slots.end(),
                     [&](const auto& entry) { return lies_within(entry.second, least, most); });
}

bool is_delay(Duration delay) {
  return delay >= Duration() && delay <= kPreemptAfterMost;
}

Status check_churn(const ChurnLimit& churn) {
  if (!churn.per_job && !churn.pool) return invalid_argument("churn limits per_job, pool or both");
  if (churn.per_job && (*churn.per_job < 1 || *churn.per_job > kChurnPerJobMost)) {
    return invalid_argument("churn: per_job is from 1 to 100");
  }
  if (churn.pool && (*churn.pool < 1 || *churn.pool > kChurnOfPoolMost)) {
    return invalid_argument("churn: pool is from 1 to 1,000");
  }
  if (churn.window <= Duration() || churn.window > kChurnWindowMost) {
    return invalid_argument("churn: window is above 0s and at most 24h");
  }
  return ok_status();
}

Status check_numbers(const Tenant& tenant) {
  if (!is_name(tenant.name)) return wrong(tenant, "a name has 1 to 63 letters, digits, '-', '_' or '.'");
  Status within = ok_status();
  for_each_setting([&](const auto& row) {
    if (!within.ok() || lies_within(tenant.*row.field, row.least, row.most)) return;
    within = wrong(tenant, std::string(row.name) + " is from " + limit_text(row.least) + " to " + limit_text(row.most));
  });
  if (!within.ok()) return within;
  if (tenant.budget) {
    if (const Status fits = check_budget(*tenant.budget); !fits.ok()) return wrong(tenant, fits.error().message);
  }
  return ok_status();
}

Status check_types(const Tenant& tenant) {
  std::int64_t promised = 0;
  for (const auto& [type, slots] : tenant.guarantee_by_type) {
    if (type.empty()) return wrong(tenant, "guarantee_by_type gives a number of slots to a type without a name");
    promised += slots;
  }
  if (promised <= tenant.guarantee) return ok_status();
  return wrong(tenant, "guarantee_by_type gives " + std::to_string(promised) + " slots, of a guarantee of " +
                           std::to_string(tenant.guarantee) + "; raise the guarantee or lower these");
}

// Guarantees by type below a tenant are part of that tenant's own guarantee of the type.
Status check_guarantees_by_type(const TenantTree& tree) {
  Refusals refusals;
  std::map<std::string_view, const Tenant*> by_name;
  std::map<std::pair<std::string, std::string>, std::int64_t> below;
  for (const Tenant& tenant : tree.tenants) {
    by_name.try_emplace(tenant.name, &tenant);
    for (const auto& [type, slots] : tenant.guarantee_by_type) below[{tenant.parent, type}] += slots;
  }
  for (const auto& [of, promised] : below) {
    const auto tenant = by_name.find(of.first);
    if (tenant == by_name.end()) continue;  // directly under the pool
    const int slots = tenant->second->guarantee_of(of.second);
    if (promised <= slots) continue;
    refusals.add(wrong(*tenant->second, "the tenants below it are guaranteed " + std::to_string(promised) +
                                            " slots of type " + of.second + ", it has " + std::to_string(slots) +
                                            "; raise its guarantee_by_type or lower theirs"));
  }
  return refusals.status();
}

// Guarantees below a tenant are part of that tenant's own guarantee.
Status check_guarantees(const TenantTree& tree) {
  Refusals refusals;
  std::map<std::string, std::int64_t> below;
  for (const Tenant& tenant : tree.tenants) below[tenant.parent] += tenant.guarantee;
  for (const Tenant& tenant : tree.tenants) {
    const auto promised = below.find(tenant.name);
    if (promised == below.end() || promised->second <= tenant.guarantee) continue;
    refusals.add(wrong(tenant, "the tenants below it are guaranteed " + std::to_string(promised->second) +
                                   " slots, it has " + std::to_string(tenant.guarantee) +
                                   "; raise its guarantee or lower theirs"));
  }
  return refusals.status();
}

// The defaults for a tenant's jobs, and the limits on their requests: each with the tenant that sets it.
struct ForJobs {
  const Tenant* priority = nullptr;
  const Tenant* preemptible = nullptr;
  const Tenant* price_cap = nullptr;
  const Tenant* min_runtime = nullptr;
  const Tenant* cooldown = nullptr;
  const Tenant* priority_max = nullptr;
  const Tenant* job_price_max = nullptr;
  const Tenant* job_hold_max = nullptr;

  void add(const Tenant& tenant) {
    if (tenant.defaults->priority) priority = &tenant;
    if (tenant.defaults->preemptible) preemptible = &tenant;
    if (tenant.defaults->price_cap) price_cap = &tenant;
    if (tenant.defaults->min_runtime) min_runtime = &tenant;
    if (tenant.defaults->cooldown) cooldown = &tenant;
    keep_least(tenant, &Tenant::priority_max, priority_max);
    keep_least(tenant, &Tenant::job_price_max, job_price_max);
    keep_least(tenant, &Tenant::job_hold_max, job_hold_max);
  }

 private:
  template <class T>
  static void keep_least(const Tenant& tenant, std::optional<T> Tenant::* limit, const Tenant*& least) {
    if (tenant.*limit && (least == nullptr || *(tenant.*limit) < *(least->*limit))) least = &tenant;
  }
};

Error beyond(const std::string& what, const Tenant& sets, const std::string& limit, const Tenant& limits) {
  return invalid_argument("the default " + what + " of tenant \"" + sets.name + "\" is " + limit + " of tenant \"" +
                          limits.name + "\": a job file that leaves it out would be refused; set another default");
}

void check_hold(const ForJobs& set, Refusals& refusals) {
  if (set.job_hold_max == nullptr) return;
  const Duration most = *set.job_hold_max->job_hold_max;
  const auto check = [&](const char* field, const Tenant* sets, std::optional<Duration> JobDefaults::* value) {
    if (sets == nullptr || *((*sets->defaults).*value) <= most) return;
    refusals.add(beyond(field + to_text(*((*sets->defaults).*value)), *sets, "above job_hold_max " + to_text(most),
                        *set.job_hold_max));
  };
  check("elastic.min_runtime ", set.min_runtime, &JobDefaults::min_runtime);
  check("elastic.cooldown ", set.cooldown, &JobDefaults::cooldown);
}

// A job that uses all defaults of its tenant must obey all limits of the tenant.
void check_for_jobs(const Tenant& tenant, const ForJobs& set, bool is_leaf, Refusals& refusals) {
  if (set.priority != nullptr && set.priority_max != nullptr) {
    const int priority = *set.priority->defaults->priority;
    const int most = *set.priority_max->priority_max;
    if (priority > most) {
      refusals.add(beyond("priority " + std::to_string(priority), *set.priority,
                          "above priority_max " + std::to_string(most), *set.priority_max));
    }
  }
  if (set.price_cap != nullptr && set.job_price_max != nullptr) {
    const Money cap = *set.price_cap->defaults->price_cap;
    const Money most = *set.job_price_max->job_price_max;
    if (cap > most) {
      refusals.add(beyond("scaling.price_cap " + to_text(cap), *set.price_cap, "above job_price_max " + to_text(most),
                          *set.job_price_max));
    }
  }
  check_hold(set, refusals);
  const bool keeps_slots = set.preemptible != nullptr && !*set.preemptible->defaults->preemptible;
  if (is_leaf && keeps_slots && tenant.guarantee == 0) {
    refusals.add(beyond("preemptible: false", *set.preemptible, "beyond the guarantee of 0", tenant));
  }
}

Status check_defaults(const TenantTree& tree) {
  Refusals refusals;
  std::set<std::string_view> parents;
  for (const Tenant& tenant : tree.tenants) parents.insert(tenant.parent);
  std::map<std::string_view, ForJobs> set;
  for (const Tenant& tenant : tree.tenants) {
    ForJobs& of = set[tenant.name];
    if (const auto above = set.find(tenant.parent); above != set.end()) of = above->second;
    of.add(tenant);
    check_for_jobs(tenant, of, !parents.contains(tenant.name), refusals);
  }
  return refusals.status();
}

}  // namespace

int Tenant::guarantee_of(const std::string& slot_type) const {
  const auto found = guarantee_by_type.find(slot_type);
  return found == guarantee_by_type.end() ? 0 : found->second;
}

const Tenant* TenantTree::find(std::string_view name) const {
  const auto found =
      std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.name == name; });
  return found == tenants.end() ? nullptr : &*found;
}

bool TenantTree::is_leaf(std::string_view name) const {
  return std::none_of(tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.parent == name; });
}

std::vector<const Tenant*> TenantTree::path_to(std::string_view name) const {
  // Each tenant comes after its parent, so one pass from the end finds them all.
  std::vector<const Tenant*> path;
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend() && !name.empty(); ++tenant) {
    if (tenant->name != name) continue;
    path.push_back(&*tenant);
    name = tenant->parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {

Duration least_of(const std::vector<const Tenant*>& path, std::optional<Duration> Tenant::* limit) {
  std::optional<Duration> least;
  for (const Tenant* tenant : path) {
    const std::optional<Duration>& own = tenant->*limit;
    if (own) least = std::min(*own, least.value_or(*own));
  }
  return least.value_or(Duration());
}

Duration greatest_of(const std::vector<const Tenant*>& path, Duration least, Duration Tenant::* limit) {
  for (const Tenant* tenant : path) least = std::max(least, tenant->*limit);
  return least;
}

}  // namespace

TenantsByName::TenantsByName(TenantTree tree) : TenantTree(std::move(tree)) {
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    places_.try_emplace(tenants[i].name, Place{.at = i});
    const auto above = places_.find(tenants[i].parent);
    if (above != places_.end()) above->second.is_leaf = false;
  }
}

const Tenant* TenantsByName::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &tenants[found->second.at];
}

bool TenantsByName::is_leaf(std::string_view name) const {
  return places_.at(name).is_leaf;
}

std::vector<const Tenant*> TenantsByName::path_to(std::string_view name) const {
  std::vector<const Tenant*> path;
  for (const Tenant* tenant = find(name); tenant != nullptr; tenant = find(tenant->parent)) path.push_back(tenant);
  std::reverse(path.begin(), path.end());
  return path;
}

Duration TenantsByName::notice_extension_of(std::string_view name) const {
  return least_of(path_to(name), &Tenant::notice_extension);
}

Duration TenantsByName::notice_refusal_of(std::string_view name) const {
  return least_of(path_to(name), &Tenant::notice_refusal);
}

Duration TenantsByName::preempt_after_of(std::string_view name) const {
  return greatest_of(path_to(name), preempt_after, &Tenant::preempt_after);
}

bool TenantTree::limits_preemption() const {
  return churn || preempt_after > Duration() || std::any_of(tenants.begin(), tenants.end(), [](const Tenant& any) {
           return any.preempt_after > Duration() || any.notice_refusal.value_or(Duration()) > Duration();
         });
}

namespace {

// Each tenant of the tree with its index.
void check_each(const TenantTree& tree, Refusals& refusals) {
  std::map<std::string, std::size_t> depth;
  for (const Tenant& tenant : tree.tenants) {
    refusals.add(check_numbers(tenant));
    refusals.add(check_types(tenant));
    const auto parent = depth.find(tenant.parent);
    const bool has_parent = tenant.parent.empty() || parent != depth.end();
    if (!has_parent) refusals.add(wrong(tenant, "its parent \"" + tenant.parent + "\" is not there before it"));
    const std::size_t at = tenant.parent.empty() || !has_parent ? 1 : parent->second + 1;
    if (at > kTenantDepthMost) refusals.add(wrong(tenant, "it is more than 8 levels deep"));
    if (!depth.emplace(tenant.name, at).second) refusals.add(wrong(tenant, "there are two of this name"));
  }
}

}  // namespace

Status check_tenants(const TenantTree& tree) {
  if (tree.tenants.size() > kTenantsMost) return invalid_argument("there can be at most 10,000 tenants");
  Refusals refusals;
  if (tree.half_life <= Duration()) refusals.add(invalid_argument("half_life is above 0"));
  if (tree.rebalance_every <= Duration()) refusals.add(invalid_argument("rebalance_every is above 0"));
  if (!is_delay(tree.preempt_after)) refusals.add(invalid_argument("preempt_after is from 0s to 24h"));
  if (tree.churn) refusals.add(check_churn(*tree.churn));
  check_each(tree, refusals);
  refusals.add(check_guarantees(tree));
  refusals.add(check_guarantees_by_type(tree));
  refusals.add(check_defaults(tree));
  return refusals.status();
}

}  // namespace tidepool::core
