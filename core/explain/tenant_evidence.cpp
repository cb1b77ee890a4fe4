#include "core/explain/tenant_evidence.hpp"

#include <algorithm>

#include "core/place/node_wait.hpp"
#include "core/state/account.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/price_cap.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

const TenantPlan* plan_of(const ClusterState& state, const std::string& tenant) {
  const auto known = state.plan.tenants.find(tenant);
  return known == state.plan.tenants.end() ? nullptr : &known->second;
}

std::string share(const Tenant& tenant, const TenantPlan& plan) {
  std::string text = "tenant " + tenant.name + " may have " + counted(plan.entitled, "slot") + " now";
  const int guaranteed = std::min(tenant.guarantee, plan.entitled);
  if (guaranteed > 0) text += ", " + grouped(guaranteed) + " of them guaranteed";
  if (tenant.borrow && plan.entitled >= tenant.guarantee + *tenant.borrow) {
    text += "; it may borrow no more than " + counted(*tenant.borrow, "slot");
  }
  return text;
}

bool may_be_on(const ClusterState& state, const Job& job, const std::string& type) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    return entry.second.slot_type == type && may_run_within_cap(job, entry.second);
  });
}

std::string guaranteed_of(const Tenant& tenant, const std::string& type) {
  const int promised = tenant.guarantee_of(type);
  return promised == 0 ? ", none of them guaranteed" : "; it is guaranteed " + grouped(promised) + " of them";
}

// Slots of the type held by the tenant's jobs that request particular nodes.
int slots_of_askers(const ClusterState& state, const std::string& tenant, const std::string& type, Money dearest) {
  int slots = 0;
  for (const auto& [id, worker] : state.workers) {
    const Node* node = state.find_node(worker.node);
    const Job* job = state.find_job(worker.job);
    const bool counts = node != nullptr && node->slot_type == type && job != nullptr && !worker.is_gone();
    if (counts && job->spec.tenant == tenant && asks_for_nodes(state, *job, dearest)) {
      slots += static_cast<int>(worker.slots.size());
    }
  }
  return slots;
}

// Its tenant's jobs could use more slots than they may have.
bool tenant_lacks_slots(const ClusterState& state, const Job& job) {
  const TenantPlan* plan = plan_of(state, job.spec.tenant);
  return plan != nullptr && !plan->satisfied && !is_final(job.state());
}

// The budgets on its tenant's path, from the pool down. A job without slots waits for each of them: even a budget that
// only shrinks jobs does not let a job start.
std::vector<reason::OfBudget> budgets_in_force(const ClusterState& state, const Job& job) {
  std::vector<reason::OfBudget> all;
  for (const Tenant* tenant : state.tenants->path_to(job.spec.tenant)) {
    const auto known = state.budgets.find(tenant->name);
    const auto reached = known == state.budgets.end() ? std::nullopt : in_force(known->second);
    if (!reached) continue;
    all.push_back({.limit = known->second.budget.limit,
                   .percent = reached->percent,
                   .ends_unix = known->second.window_ends_us / 1'000'000,
                   .word = tenant->name});
  }
  return all;
}

}  // namespace

int slots_of_tenant(const ClusterState& state, const std::string& tenant) {
  int slots = 0;
  for (const auto& [id, job] : state.jobs) {
    if (job->spec.tenant == tenant) slots += slots_in_use(state, *job);
  }
  return slots;
}

std::optional<int> binding_share(const ClusterState& state, const std::string& tenant) {
  const TenantPlan* plan = plan_of(state, tenant);
  return plan == nullptr || plan->satisfied ? std::nullopt : std::optional(plan->entitled);
}

bool has_used_share(const ClusterState& state, const std::string& tenant) {
  const auto share = binding_share(state, tenant);
  return share && slots_of_tenant(state, tenant) >= *share;
}

std::optional<TypePart> binding_part(const ClusterState& state, const Job& job) {
  const TenantPlan* plan = plan_of(state, job.spec.tenant);
  const auto type = bound_type(state, job);
  const auto& sizes = job.spec.elastic.sizes;
  const auto next = std::upper_bound(sizes.begin(), sizes.end(), job.size());
  if (plan == nullptr || !type || next == sizes.end()) return std::nullopt;
  const auto part = plan->of_types.find(*type);
  if (part == plan->of_types.end()) return std::nullopt;
  const Money dearest = dearest_slot(state);
  if (!asks_for_nodes(state, job, dearest)) return std::nullopt;
  const int more = (*next - job.size()) * job.spec.gpus_per_worker;
  if (slots_of_askers(state, job.spec.tenant, *type, dearest) + more <= part->second) return std::nullopt;
  return TypePart{.type = *type, .slots = part->second};
}

std::string share_waited_for(const ClusterState& state, const Job& job) {
  const auto share = binding_share(state, job.spec.tenant);
  if (!share || job.state() != JobState::kPending) return "";
  const int held = slots_of_tenant(state, job.spec.tenant);
  const int needed = job.spec.smallest_slots();
  const bool room_is_there = slots_free_for(state, job) >= needed;
  if (held < *share && (held + needed <= *share || !room_is_there)) return "";
  return "; tenant " + job.spec.tenant + " may have " + counted(*share, "slot") + " now, and its jobs hold " +
         (held == 0 ? "none" : grouped(held));
}

int slots_kept_by_guarantees(const ClusterState& state, const Job& job) {
  return tenant_lacks_slots(state, job) ? slots_kept_from(state, job.spec.tenant) : 0;
}

std::vector<std::string> tenant_evidence(const ClusterState& state, const Job& job, int kept_by_guarantees) {
  const Tenant* tenant = state.tenants->find(job.spec.tenant);
  const TenantPlan* plan = plan_of(state, job.spec.tenant);
  if (tenant == nullptr || plan == nullptr || is_final(job.state())) return {};
  const int held = slots_of_tenant(state, tenant->name);
  const std::string could_use = plan->wanted > held ? counted(plan->wanted, "slot") : "no more";
  std::vector<std::string> lines{share(*tenant, *plan) + "; its jobs hold " + counted(held, "slot") +
                                 (plan->satisfied ? " and could use " + could_use : "")};
  if (kept_by_guarantees > 0) {
    lines.push_back("tenant " + tenant->name + " would have " + counted(kept_by_guarantees, "slot") +
                    " more if others lent all that they are guaranteed and do not use (rule: lend)");
  }
  const bool asks = asks_for_nodes(state, job, dearest_slot(state));
  for (const auto& [type, slots] : plan->of_types) {
    if (!asks || !may_be_on(state, job, type)) continue;
    lines.push_back("of type " + type + " jobs of all tenants ask for more slots than there are; those of tenant " +
                    tenant->name + " that ask for it may have " + counted(slots, "slot") +
                    guaranteed_of(*tenant, type));
  }
  if (plan->loan >= 0.05 && !plan->satisfied) {
    lines.push_back("recently tenant " + tenant->name + " held " + decimal(plan->loan) +
                    " slots beyond its guarantee while others waited, which counts against it");
  }
  return lines;
}

std::vector<Keeper> keepers_for(const ClusterState& state, const Job& job, const TenantFilter& is_seen) {
  return tenant_lacks_slots(state, job) ? keepers_from(state, job.spec.tenant, is_seen) : std::vector<Keeper>();
}

std::vector<std::string> keepers_evidence(const std::vector<Keeper>& keepers) {
  std::vector<std::string> lines;
  lines.reserve(keepers.size());
  for (const Keeper& keeper : keepers) {
    lines.push_back("tenant " + keeper.tenant + " keeps " + counted(keeper.slots, "slot") +
                    " of these (lend: " + std::to_string(keeper.lend) + ")");
  }
  return lines;
}

std::optional<reason::OfBudget> last_renewed(const ClusterState& state, const Job& job) {
  const std::vector<reason::OfBudget> all = budgets_in_force(state, job);
  const auto last = std::max_element(
      all.begin(), all.end(), [](const auto& one, const auto& other) { return one.ends_unix < other.ends_unix; });
  return last == all.end() ? std::nullopt : std::optional(*last);
}

std::vector<std::string> budget_evidence(const ClusterState& state, const Job& job, const Reason& told) {
  if (!job.hold || is_final(job.state())) return {};
  const auto* waits = reason_as<reason::BudgetSpent>(told);
  const std::string& named = waits != nullptr ? waits->word : job.hold->tenant;
  std::vector<std::string> lines;
  for (const reason::OfBudget& each : budgets_in_force(state, job)) {
    if (each.word != named) lines.push_back("also, " + spent_text(each));
  }
  return lines;
}

}  // namespace tidepool::core
