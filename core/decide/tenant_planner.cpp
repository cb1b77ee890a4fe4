#include "core/decide/tenant_planner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/decide/cluster_planner.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/pool_division.hpp"
#include "core/state/budget_hold.hpp"
#include "core/tenants/firm_claims.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

// What a job counts for if its target is this one.
int given_by(const JobNeed& need, const Job& job, int size) {
  return need.claims ? need.given : size * job.spec.gpus_per_worker;
}

}  // namespace

void TenantPlanner::follow(const ClusterState& state, JobId id) {
  followed_.insert(id);
  const JobNeed* need = needs_.find(id);
  if (const Job* job = state.find_job(id)) {
    return tell(need == nullptr ? place_of(job->spec.tenant) : need->tenant, state, id);
  }
  if (const EndedJob* ended = state.find_ended(id)) {
    tenants_of_ended_[id] = ended->tenant;
    return tell(place_of(ended->tenant), state, id);
  }
  if (need != nullptr) tell(need->tenant, state, id);
  const auto forgotten = tenants_of_ended_.find(id);
  if (forgotten == tenants_of_ended_.end()) return;
  tell(place_of(forgotten->second), state, id);
  tenants_of_ended_.erase(forgotten);
}

std::optional<std::size_t> TenantPlanner::place_of(const std::string& tenant) const {
  const auto found = index_.find(tenant);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

void TenantPlanner::tell(std::optional<std::size_t> tenant, const ClusterState& state, JobId job) {
  if (!tenant || !leaves_[*tenant].planner) return;
  leaves_[*tenant].planner->follow(state, job);
  leaves_[*tenant].changed = true;
}

void TenantPlanner::booked() {
  for (Leaf* leaf : with_jobs_) leaf->planner->booked();
}

Result<PlanAnswer> TenantPlanner::plan(const PlanRequest& request, StepBudget& budget) {
  look_at_tree(request);
  IdSet<JobId> jobs = std::exchange(followed_, {});
  jobs.insert(request.looked_at);
  read(request, jobs);
  set_leaves(request);
  hold_back(request.view.state);
  count_loans(request);
  // What is counted follows from the request, as the answer does; which planners are asked depends on what is kept.
  StepBudget of_planners = budget;
  TP_TRY(share_out(request, of_planners));
  budget.spend(static_cast<std::int64_t>(with_jobs_.size() + request.looked_at.size()));
  return joined(request);
}

void TenantPlanner::look_at_tree(const PlanRequest& request) {
  if (tree_ == request.nodes) return;
  tree_ = request.nodes;
  may_spare_ = may_spare(*request.view.state.tenants);
  index_ = places_of(*request.view.state.tenants);
  nodes_ = nodes_of(*request.view.state.tenants, index_);
  leaves_ = std::vector<Leaf>(nodes_.size());
  for (const auto& [name, node] : index_) leaves_[node] = {.node = node, .name = &name};
  with_jobs_.clear();
  needs_.reset(nodes_.size());
  types_.reset(request.view.state);
  least_prices_.clear();
  held_back_.clear();
  for (const auto& [id, job] : request.view.state.jobs) followed_.insert(id);
}

void TenantPlanner::read(const PlanRequest& request, const IdSet<JobId>& jobs) {
  const ClusterState& state = request.view.state;
  for (const JobId id : jobs) {
    const Job* job = state.find_job(id);
    if (job == nullptr) {
      needs_.put(id, nullptr);
      continue;
    }
    const JobNeed* known = needs_.find(id);
    JobNeed need;
    if (request.counts(*job)) {
      need = need_of(state, *job, request.has_own_policy(*job));
      need.asks = types_.asked_by(state, *job);
    }
    need.tenant = known == nullptr ? place_of(job->spec.tenant) : known->tenant;
    needs_.put(id, &need);
  }
}

void TenantPlanner::set_leaves(const PlanRequest& request) {
  if (needs_revision_ != needs_.revision()) find_leaves_with_jobs(request.view.state);
  needs_revision_ = needs_.revision();
  look_up_newest(request.view.state);
  for (const JobId id : request.looked_at) {
    const JobNeed* need = needs_.find(id);
    if (need != nullptr && need->tenant) leaves_[*need->tenant].looked_at.insert(id);
  }
}

// Planners of new ones learn all that there is to know. A tenant that was a leaf before may have jobs that have ended.
void TenantPlanner::find_leaves_with_jobs(const ClusterState& state) {
  const std::vector<bool> is_leaf = leaves_of(nodes_);
  with_jobs_.clear();
  for (const auto& [name, node] : index_) {
    Leaf& leaf = leaves_[node];
    const TenantNeeds::Sums& needs = needs_.by_tenant()[node];
    if (needs.jobs.empty() || !is_leaf[node]) {
      if (leaf.planner) leaf = {.node = node, .name = &name};
      continue;
    }
    leaf.needs = &needs;
    with_jobs_.push_back(&leaf);
    if (leaf.planner) continue;
    leaf.planner = policy_.planner();
    for (const JobId id : leaf.needs->jobs) leaf.planner->follow(state, id);
    for (const auto& [id, ended] : state.ended) {
      if (ended->tenant == name) leaf.planner->follow(state, id);
    }
  }
}

// Both are in the order of names.
void TenantPlanner::look_up_newest(const ClusterState& state) {
  without_.clear();
  auto newest = state.plan.tenants.begin();
  const auto end = state.plan.tenants.end();
  for (Leaf* leaf : with_jobs_) {
    for (; newest != end && newest->first < *leaf->name; ++newest) without_.push_back(newest->first);
    const bool is_known = newest != end && newest->first == *leaf->name;
    leaf->newest = is_known ? &newest->second : nullptr;
    leaf->looked_at = {};
    if (is_known) ++newest;
  }
  for (; newest != end; ++newest) without_.push_back(newest->first);
}

void TenantPlanner::hold_back(const ClusterState& state) {
  const std::map<JobId, Reason> before = std::exchange(
      held_back_,
      beyond_guarantees(state, nodes_, needs_, [&](const Job& job) { return !least_prices_.allow(state, job); }));
  const auto tell_missing = [&](const std::map<JobId, Reason>& these, const std::map<JobId, Reason>& others) {
    for (const auto& [id, reason] : these) {
      const JobNeed* need = needs_.find(id);
      if (!others.contains(id) && need != nullptr) tell(need->tenant, state, id);
    }
  };
  tell_missing(held_back_, before);
  tell_missing(before, held_back_);
}

// What each tenant has held beyond its guarantee since it was counted last, while another wanted more.
void TenantPlanner::count_loans(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  const auto use_of = [&](const Leaf& leaf) {
    const auto used = state.tenant_uses.find(*leaf.name);
    return used == state.tenant_uses.end() ? Duration() : used->second.slot_time;
  };
  const auto counted = state.plan.loans_counted;
  counts_loans_ = !counted || request.view.now >= *counted + state.tenants->rebalance_every;
  for (Leaf* leaf : with_jobs_) {
    leaf->loan = leaf->before().loan;
    // What it had used before the plan knew it is no loan.
    leaf->counted_use = leaf->newest != nullptr ? leaf->before().counted_use : use_of(*leaf);
  }
  if (!counts_loans_) return;
  const auto wanting = std::count_if(state.plan.tenants.begin(), state.plan.tenants.end(),
                                     [](const auto& any) { return any.second.wants_more(); });
  const double passed = counted ? (request.view.now - *counted).to_seconds() : 0;
  const double kept = std::exp2(-passed / state.tenants->half_life.to_seconds());
  for (Leaf* leaf : with_jobs_) {
    const Duration use = use_of(*leaf);
    if (leaf->newest != nullptr && passed > 0) {
      const bool is_wanted = wanting > (leaf->newest->wants_more() ? 1 : 0);
      const double held = (use - leaf->counted_use).to_seconds() / passed;
      const double beyond = is_wanted ? std::max(0.0, held - nodes_[leaf->node].guarantee) : 0;
      leaf->loan = leaf->loan * kept + beyond * (1 - kept);
    }
    leaf->counted_use = use;
  }
}

void TenantPlanner::set_claims(const ClusterState& state) {
  if (claims_of_ == ClaimsOf::kNone) return;
  for (TenantNode& node : nodes_) node.claim.reset();
  if (!state.deployment.answer) return;
  for (const TenantClaim& claim : state.deployment.answer->claims) {
    if (const auto place = place_of(claim.tenant)) nodes_[*place].claim = claim.slots;
  }
}

Status TenantPlanner::share_out(const PlanRequest& request, StepBudget& budget) {
  forget_answers(request);
  set_claims(request.view.state);
  const auto ask_leaf = [&](Leaf& leaf, std::optional<int> most) { return ask(leaf, request, most, budget); };
  PoolDivision division({.nodes = nodes_, .leaves = with_jobs_, .slots = slots_to_share(request.view.state)}, ask_leaf);
  TP_TRY(division.divide_slots());
  TP_TRY(division.divide_types(types_, request.view.state, needs_));
  for (Leaf* leaf : with_jobs_) {
    const auto most = leaf->part.satisfied ? std::nullopt : std::optional(leaf->part.share);
    if (!leaf->newest_answer || *leaf->newest_answer != most) TP_TRY(ask(*leaf, request, most, budget));
  }
  return ok_status();
}

void TenantPlanner::forget_answers(const PlanRequest& request) {
  for (Leaf* leaf : with_jobs_) {
    const bool rests = !leaf->changed && leaf->looked_at.empty() && leaf->planner->rests(request.view.now);
    leaf->changed = false;
    leaf->targets = {};
    leaf->mark = leaf->before().mark;
    leaf->lacks_slots = 0;
    if (!rests) leaf->forget_answers();
    leaf->bound({});
  }
}

Status TenantPlanner::ask(Leaf& leaf, const PlanRequest& request, std::optional<int> most, StepBudget& budget) {
  const std::function<bool(const Job&)> counts = [&](const Job& job) {
    return request.counts(job) && !held_back_.contains(job.id);
  };
  const PlanRequest of_leaf{.view = request.view,
                            .jobs = leaf.needs->jobs,
                            .looked_at = leaf.looked_at,
                            .counts = counts,
                            .has_own_policy = request.has_own_policy,
                            .nodes = request.nodes,
                            .mark = leaf.before().mark,
                            .slots_most = most,
                            .typed_most = leaf.typed_most.empty() ? nullptr : &leaf.typed_most};
  auto answer = may_spare_ ? plan_sparing(*leaf.planner, of_leaf, budget) : leaf.planner->plan(of_leaf, budget);
  if (!answer) return answer.error();
  leaf.looked_at = {};  // with another bound it need not look at them again: nothing has changed since
  // What is kept for a job of it counts as used: else it would go to another tenant, and come back late.
  Leaf::Answer told{.most = most, .used = leaf.needs->given + answer->kept, .typed = leaf.needs->given_typed};
  for (const auto& [id, target] : answer->targets) {
    const JobNeed& need = *needs_.find(id);
    const std::int64_t more = given_by(need, *request.view.state.find_job(id), target.size) - need.given;
    told.used += more;
    if (need.asks && !need.claims) told.typed[*need.asks] += more;
  }
  std::erase_if(leaf.answers, [&](const Leaf::Answer& any) { return any.most == most; });
  leaf.answers.push_back(std::move(told));
  leaf.newest_answer = most;
  leaf.targets = std::move(answer->targets);
  leaf.mark = std::move(answer->mark);
  leaf.wake = answer->wake;
  return ok_status();
}

PlanAnswer TenantPlanner::joined(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  PlanAnswer joined{.targets = {}, .whole = false, .mark = {}, .wake = {}};
  joined.by_tenants = true;
  joined.counts_loans = counts_loans_;
  for (Leaf* leaf : with_jobs_) {
    for (auto& [id, target] : leaf->targets) joined.targets.emplace(id, std::move(target));
    if (leaf->wake && (!joined.wake || *leaf->wake < *joined.wake)) joined.wake = leaf->wake;
    TenantPlan now{.entitled = leaf->part.share,
                   .wanted = as_slots(leaf->part.satisfied ? leaf->part.used : leaf->needs->most),
                   .satisfied = leaf->part.satisfied,
                   .of_types = leaf->typed_most,
                   .lacks_slots = leaf->lacks_slots,
                   .loan = leaf->loan,
                   .counted_use = leaf->counted_use,
                   .mark = std::move(leaf->mark)};
    if (leaf->newest == nullptr || now != *leaf->newest) {
      joined.tenants.push_back({.tenant = *leaf->name, .now = std::move(now)});
    }
  }
  for (const std::string& tenant : without_) joined.tenants.push_back({.tenant = tenant, .now = std::nullopt});
  std::sort(joined.tenants.begin(), joined.tenants.end(),
            [](const TenantChange& a, const TenantChange& b) { return a.tenant < b.tenant; });
  for (const auto& [id, reason] : held_back_) {
    const Job& job = *state.find_job(id);
    Target target{.size = 0, .reason = reason};
    if (request.counts(job) && is_news(job, target, request.view.now)) joined.targets.emplace(id, std::move(target));
  }
  return joined;
}

std::unique_ptr<TenantPlanner> make_tenant_planner(const EngineParts& parts, const ClusterState& state) {
  using ClaimsOf = TenantPlanner::ClaimsOf;
  const ClaimsOf claims = parts.file_decides(state) ? ClaimsOf::kPolicyFile : ClaimsOf::kNone;
  return std::make_unique<TenantPlanner>(parts.active_policy(state), claims);
}

}  // namespace tidepool::core
