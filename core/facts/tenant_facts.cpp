#include "core/facts/tenant_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/refusals.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/tenant_jobs.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

Error not_allowed(const JobSpec& spec, const std::string& what) {
  return invalid_argument("job \"" + spec.name + "\": " + what);
}

// How long a job keeps slots for which others may have a guarantee.
Status check_times(const Tenant& tenant, const JobSpec& spec) {
  const auto check = [&](const char* field, Duration time, const char* name, std::optional<Duration> most) -> Status {
    if (!most || time <= *most) return ok_status();
    return not_allowed(spec, std::string(field) + " " + to_text(time) + " is above " + name + " " + to_text(*most) +
                                 " of tenant \"" + tenant.name + "\"; set it to at most that");
  };
  TP_TRY(check("elastic.grace", spec.elastic.grace, "job_grace_max", tenant.job_grace_max));
  TP_TRY(check("elastic.min_runtime", spec.elastic.min_runtime, "job_hold_max", tenant.job_hold_max));
  return check("elastic.cooldown", spec.elastic.cooldown, "job_hold_max", tenant.job_hold_max);
}

// The check by one tenant on the path from the pool to the job's own tenant.
Status check_limits(const Tenant& tenant, const JobSpec& spec) {
  const std::string of = " of tenant \"" + tenant.name + "\"";
  if (tenant.priority_max && spec.priority > *tenant.priority_max) {
    return not_allowed(spec, "priority " + std::to_string(spec.priority) + " is above priority_max " +
                                 std::to_string(*tenant.priority_max) + of);
  }
  const std::int64_t most = std::int64_t{spec.elastic.max} * spec.gpus_per_worker;
  if (tenant.job_slots_max && most > *tenant.job_slots_max) {
    return not_allowed(spec, "it may grow to " + std::to_string(most) + " slots, above job_slots_max " +
                                 std::to_string(*tenant.job_slots_max) + of + "; lower elastic.max");
  }
  if (tenant.job_price_max && (!spec.scaling.price_cap || *spec.scaling.price_cap > *tenant.job_price_max)) {
    return not_allowed(spec, "scaling.price_cap must be at most " + to_text(*tenant.job_price_max) +
                                 " an hour, the job_price_max" + of);
  }
  TP_TRY(check_times(tenant, spec));
  if (spec.placement.exclusive && !tenant.exclusive_nodes) {
    return not_allowed(spec, "placement.exclusive is not granted to tenant \"" + tenant.name +
                                 "\" (exclusive_nodes); leave it out, or ask an operator");
  }
  const std::int64_t least = std::int64_t{spec.elastic.sizes.front()} * spec.gpus_per_worker;
  const bool has_own_policy = spec.scaling.names_policy();
  const std::int64_t kept = has_own_policy ? most : spec.preemptible ? 0 : least;
  if (kept <= tenant.guarantee) return ok_status();
  return not_allowed(spec, std::string(has_own_policy ? "with a policy of its own" : "with preemptible: false") +
                               " it keeps " + counted(static_cast<double>(kept), "slot") +
                               " for good, more than the guarantee of " + std::to_string(tenant.guarantee) + of);
}

// For a tenant that `has` that many jobs, and gets more with this submission. Passes unless the new jobs alone are too
// many.
// themselves.
Error jobs_max_reached(const Tenant& tenant, const JobSpec& spec, int has, int with_it) {
  const std::string most = std::to_string(*tenant.jobs_max);
  std::string what = "jobs_max " + most + " of tenant \"" + tenant.name + "\" is reached: it has " +
                     counted(has, "job") + " waiting, running or suspended";
  if (with_it > 0) what += ", and " + std::to_string(with_it) + " before this one in the batch";
  if (with_it >= *tenant.jobs_max) return not_allowed(spec, what + "; submit at most " + most + " at once");
  Error error = not_allowed(spec, what + "; submit it again once some of them have ended, or cancel some");
  error.code = ErrorCode::kLimitExceeded;
  return error;
}

// A job that has not ended keeps its tenant.
Status keeps_tenants_of_jobs(const ClusterState& state, const TenantTree& next) {
  if (next.empty()) return ok_status();
  const TenantsByName tree(next);
  std::set<std::string> known;
  Refusals refusals;
  for (const auto& [id, job] : state.jobs) {
    const std::string& tenant = job->spec.tenant;
    if (is_final(job->state()) || !known.insert(tenant).second) continue;
    if (const Status there = check_leaf(tree, tenant); there.ok()) continue;
    refusals.add(conflict("tenant \"" + tenant + "\" has jobs that have not ended, such as " + id.text() +
                          ", and is no leaf of the new tree; add it, or end its jobs first"));
  }
  return refusals.status();
}

// When a job's next decision is due depends on the limits on preemption.
void look_at_all_jobs(StateChange& change) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : change.state().jobs) ids.push_back(id);
  for (const JobId id : ids) (void)change.job(id);
}

// The use of removed tenants is added to the nearest tenant above them that remains.
TenantUses uses_kept(const ClusterState& state, const TenantsByName& next) {
  TenantUses kept;
  for (const auto& [name, use] : state.tenant_uses) {
    const auto path = state.tenants->path_to(name);
    const auto stays = [&](const Tenant* each) { return next.find(each->name) != nullptr; };
    const auto heir = std::find_if(path.rbegin(), path.rend(), stays);
    if (heir == path.rend()) continue;
    kept[(*heir)->name].slot_time += use.slot_time;
    kept[(*heir)->name].cost += use.cost;
  }
  return kept;
}

// Slots held permanently by other running jobs, for each tenant including the tenants below it.
std::map<std::string, int, std::less<>> kept_by_others(const ClusterState& state, const Job& job) {
  std::map<std::string, int, std::less<>> kept;
  for (const auto& [id, other] : state.jobs) {
    const bool holds = !is_final(other->state()) && !other->membership.workers.empty();
    if (id != job.id && holds) kept[other->spec.tenant] += firm_slots(*other, other->spec.scaling.names_policy());
  }
  // Each tenant comes after its parent, so from the end each sum is complete before it is added.
  const auto& tenants = state.tenants->tenants;
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend(); ++tenant) {
    if (!tenant->parent.empty()) kept[tenant->parent] += kept[tenant->name];
  }
  return kept;
}

// `when`: the condition under which the job would keep them, for the message.
Status check_kept(const ClusterState& state, const Job& job, int slots, std::string_view when) {
  if (state.tenants->empty() || slots == 0) return ok_status();
  auto kept_by = kept_by_others(state, job);
  for (const Tenant* tenant : state.tenants->path_to(job.spec.tenant)) {
    const int kept = kept_by[tenant->name];
    if (kept + slots <= tenant->guarantee) continue;
    return conflict(job.id.text() + " would keep " + counted(slots, "slot") + " for good " + std::string(when) +
                    "; tenant \"" + tenant->name + "\" is guaranteed " + std::to_string(tenant->guarantee) +
                    ", of which " + std::to_string(kept) + " are kept so by other jobs");
  }
  return ok_status();
}

}  // namespace

Status check_leaf(const TenantsByName& tree, const std::string& tenant) {
  if (tree.find(tenant) == nullptr && tenant == JobSpec().tenant) {
    return invalid_argument("there is no tenant \"" + tenant + "\", which a job file that names none means; add " +
                            "`tenant: NAME` to it: `schedctl tenants` lists those there are");
  }
  if (tree.find(tenant) == nullptr) {
    return invalid_argument("there is no tenant \"" + tenant + "\"; `schedctl tenants` lists those there are");
  }
  if (tree.is_leaf(tenant)) return ok_status();
  return invalid_argument("tenant \"" + tenant + "\" has tenants below it; a job belongs to one of those");
}

Status check_allowed(const TenantsByName& tree, const JobSpec& spec) {
  if (tree.empty()) return ok_status();
  TP_TRY(check_leaf(tree, spec.tenant));
  for (const Tenant* tenant : tree.path_to(spec.tenant)) TP_TRY(check_limits(*tenant, spec));
  return ok_status();
}

Status check_jobs_max(const ClusterState& state, const TenantJobs& before, const JobSpec& spec) {
  Status passes = ok_status();
  for (const Tenant* tenant : state.tenants->path_to(spec.tenant)) {
    if (!tenant->jobs_max) continue;
    const int has = jobs_of(state.tenant_jobs, tenant->name);
    const int with_it = jobs_of(before, tenant->name);
    if (std::int64_t{has} + with_it < *tenant->jobs_max) continue;
    const Error reached = jobs_max_reached(*tenant, spec, has, with_it);
    if (reached.code != ErrorCode::kLimitExceeded) return reached;
    if (passes.ok()) passes = reached;
  }
  return passes;
}

Status check_pin(const ClusterState& state, const Job& job, int size) {
  return check_kept(state, job, size * job.spec.gpus_per_worker, "with a size of its own");
}

Status check_kept_after(const ClusterState& state, const Job& job, const JobSpec& spec) {
  if (job.membership.workers.empty()) return ok_status();  // it starts only within the guarantees
  Job changed = job;
  changed.spec = spec;
  const int kept = firm_slots(changed, spec.scaling.names_policy());
  if (kept <= firm_slots(job, job.spec.scaling.names_policy())) return ok_status();
  return check_kept(state, job, kept, "after this change");
}

Status apply(StateChange& change, const TenantsConfigured& fact) {
  ClusterState& state = change.state();
  Refusals refusals;
  refusals.add(check_tenants(fact.tree));
  refusals.add(keeps_tenants_of_jobs(state, fact.tree));
  TP_TRY(refusals.status());
  if (*state.tenants == fact.tree) return ok_status();
  change.advance_time();
  if (state.tenants->limits_preemption() || fact.tree.limits_preemption()) look_at_all_jobs(change);
  TenantsByName next(fact.tree);
  state.tenant_uses = uses_kept(state, next);
  state.tenants = std::move(next);
  state.tenant_jobs = count_jobs(state, *state.tenants);
  state.plan.tenants.erase_if([&](const auto& plan) { return state.tenants->find(plan.first) == nullptr; });
  if (fact.tree.empty()) state.plan.loans_counted.reset();
  std::vector<std::string> names;
  names.reserve(fact.tree.tenants.size());
  for (const Tenant& tenant : fact.tree.tenants) names.push_back(tenant.name);
  change.capacity_changed();
  change.emit("tenants.configured", {{"tenants", std::move(names)}});
  follow_tree(change);
  return ok_status();
}

}  // namespace tidepool::core
