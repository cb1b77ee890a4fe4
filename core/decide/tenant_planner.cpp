#include "core/decide/tenant_planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/decide/cluster_planner.hpp"

namespace tidepool::core {
namespace {

constexpr int kRoundsMost = 6;       // of entitlements that follow from what jobs would take
constexpr double kLoanWeight = 0.5;  // slots of a loan that count as had already

int as_slots(std::int64_t slots) {
  return static_cast<int>(std::min<std::int64_t>(slots, std::numeric_limits<int>::max()));
}

// That a plan hands out, or that jobs hold on nodes that take no others.
int slots_to_share(const ClusterState& state) {
  int slots = 0;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp) continue;
    const auto held = std::count_if(node.owners.begin(), node.owners.end(), [](WorkerId owner) { return !!owner; });
    slots += static_cast<int>(node.is_closed() ? held : static_cast<std::ptrdiff_t>(node.owners.size()));
  }
  return slots;
}

// What a job counts for if its target is this one.
int given_by(const JobNeed& need, const Job& job, int size) {
  return need.claims ? need.given : size * job.spec.gpus_per_worker;
}

bool holds_nothing(const Job& job) {
  return job.state() == JobState::kPending && job.membership.workers.empty();
}

}  // namespace

void TenantPlanner::follow(const ClusterState& state, JobId id) {
  followed_.insert(id);
  if (const Job* job = state.find_job(id)) return tell(job->spec.tenant, state, id);
  if (const EndedJob* ended = state.find_ended(id)) {
    tenants_of_ended_[id] = ended->tenant;
    return tell(ended->tenant, state, id);
  }
  if (const JobNeed* need = needs_.find(id)) tell(need->tenant, state, id);
  const auto forgotten = tenants_of_ended_.find(id);
  if (forgotten == tenants_of_ended_.end()) return;
  tell(forgotten->second, state, id);
  tenants_of_ended_.erase(forgotten);
}

void TenantPlanner::tell(const std::string& tenant, const ClusterState& state, JobId job) {
  const auto leaf = leaves_.find(tenant);
  if (leaf == leaves_.end()) return;
  leaf->second.planner->follow(state, job);
  leaf->second.changed = true;
}

void TenantPlanner::booked() {
  for (auto& [tenant, leaf] : leaves_) leaf.planner->booked();
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
  budget.spend(static_cast<std::int64_t>(leaves_.size() + request.looked_at.size()));
  return joined(request);
}

void TenantPlanner::look_at_tree(const PlanRequest& request) {
  if (tree_ == request.nodes) return;
  tree_ = request.nodes;
  nodes_.clear();
  index_.clear();
  for (const Tenant& tenant : request.view.state.tenants->tenants) {
    const int parent = tenant.parent.empty() ? -1 : static_cast<int>(index_.at(tenant.parent));
    index_.emplace(tenant.name, nodes_.size());
    nodes_.push_back({.parent = parent,
                      .guarantee = tenant.guarantee,
                      .weight = tenant.weight,
                      .borrow = tenant.borrow,
                      .lend = tenant.lend});
  }
  leaves_.clear();
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
    JobNeed need{.tenant = job->spec.tenant, .counts = request.counts(*job)};
    if (need.counts) {
      const bool has_own_policy = request.has_own_policy(*job);
      const bool is_claim = is_fixed_claim(*job, has_own_policy);
      const int each = job->spec.gpus_per_worker;
      const int held = slots_kept(state, *job);
      need.firm = firm_slots(*job, has_own_policy);
      need.claims = is_claim && held > 0;
      need.given = need.claims ? held : job->planned ? job->planned->target.size * each : 0;
      const int claimed = job->requests.pinned_size > 0 ? job->requests.pinned_size : job->spec.elastic.preferred;
      need.most = is_claim ? std::max(held, claimed * each) : job->spec.elastic.sizes.back() * each;
    }
    needs_.put(id, &need);
  }
}

// One for each tenant with jobs; planners of new ones learn all that there is to know.
void TenantPlanner::set_leaves(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  std::erase_if(leaves_, [&](const auto& leaf) { return !needs_.by_tenant().contains(leaf.first); });
  auto newest = state.plan.tenants.begin();
  for (const auto& [tenant, sums] : needs_.by_tenant()) {
    const auto node = index_.find(tenant);
    if (node == index_.end()) continue;
    const auto [found, is_new] = leaves_.try_emplace(tenant);
    Leaf& leaf = found->second;
    leaf.node = node->second;
    leaf.needs = &sums;
    while (newest != state.plan.tenants.end() && newest->first < tenant) ++newest;
    leaf.newest = newest != state.plan.tenants.end() && newest->first == tenant ? &newest->second : nullptr;
    leaf.looked_at = {};
    if (!is_new) continue;
    leaf.planner = policy_.planner();
    for (const JobId id : sums.jobs) leaf.planner->follow(state, id);
    for (const auto& [id, ended] : state.ended) {
      if (ended->tenant == tenant) leaf.planner->follow(state, id);
    }
  }
  for (const JobId id : request.looked_at) {
    const JobNeed* need = needs_.find(id);
    const auto leaf = need == nullptr ? leaves_.end() : leaves_.find(need->tenant);
    if (leaf != leaves_.end()) leaf->second.looked_at.insert(id);
  }
}

std::map<JobId, Reason> TenantPlanner::beyond_guarantees(const ClusterState& state) const {
  std::vector<std::int64_t> firm(nodes_.size(), 0);
  const auto above = [&](std::size_t node, const auto& visit) {
    for (int at = static_cast<int>(node); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      visit(static_cast<std::size_t>(at));
    }
  };
  std::vector<std::tuple<int, Instant, JobId>> waiting;
  for (const auto& [tenant, leaf] : leaves_) {
    for (const JobId id : leaf.needs->firm) {
      const Job& job = *state.find_job(id);
      if (holds_nothing(job)) {
        waiting.emplace_back(-job.spec.priority, job.submitted_at, id);
      } else {
        above(leaf.node, [&](std::size_t node) { firm[node] += needs_.find(id)->firm; });
      }
    }
  }
  std::sort(waiting.begin(), waiting.end());
  std::map<JobId, Reason> beyond;
  for (const auto& [priority, submitted, id] : waiting) {
    const JobNeed& need = *needs_.find(id);
    const std::size_t leaf = leaves_.at(need.tenant).node;
    std::optional<std::size_t> full;
    above(leaf, [&](std::size_t node) {
      if (!full && firm[node] + need.firm > nodes_[node].guarantee) full = node;
    });
    if (full) {
      beyond.emplace(id, reason::BeyondGuarantee{.needed = need.firm,
                                                 .held = as_slots(firm[*full]),
                                                 .guarantee = nodes_[*full].guarantee,
                                                 .word = state.tenants->tenants[*full].name});
    } else {
      above(leaf, [&](std::size_t node) { firm[node] += need.firm; });
    }
  }
  return beyond;
}

void TenantPlanner::hold_back(const ClusterState& state) {
  const std::map<JobId, Reason> before = std::exchange(held_back_, beyond_guarantees(state));
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
  const auto counted = state.plan.loans_counted;
  counts_loans_ = !counted || request.view.now >= *counted + state.tenants->rebalance_every;
  for (auto& [tenant, leaf] : leaves_) {
    leaf.loan = leaf.newest == nullptr ? 0 : leaf.newest->loan;
    leaf.counted_use = leaf.newest == nullptr ? Duration() : leaf.newest->counted_use;
  }
  if (!counts_loans_) return;
  const auto wanting = std::count_if(state.plan.tenants.begin(), state.plan.tenants.end(),
                                     [](const auto& any) { return !any.second.sated; });
  const double passed = counted ? (request.view.now - *counted).to_seconds() : 0;
  const double kept = std::exp2(-passed / state.tenants->half_life.to_seconds());
  for (auto& [tenant, leaf] : leaves_) {
    const auto used = state.tenant_uses.find(tenant);
    const Duration use = used == state.tenant_uses.end() ? Duration() : used->second.slot_time;
    if (leaf.newest != nullptr && passed > 0) {
      const bool is_wanted = wanting > (leaf.newest->sated ? 0 : 1);
      const double held = (use - leaf.counted_use).to_seconds() / passed;
      const double beyond = is_wanted ? std::max(0.0, held - nodes_[leaf.node].guarantee) : 0;
      leaf.loan = leaf.loan * kept + beyond * (1 - kept);
    }
    leaf.counted_use = use;
  }
}

// What each wants by what its newest plan has found.
void TenantPlanner::set_wishes() {
  for (TenantNode& node : nodes_) {
    node.wanted = node.before = 0;
    node.loan = 0;
  }
  for (auto& [tenant, leaf] : leaves_) {
    leaf.stuck = false;
    leaf.sated = leaf.newest != nullptr && leaf.newest->sated;
    TenantNode& node = nodes_[leaf.node];
    node.wanted = leaf.sated ? leaf.newest->wanted : as_slots(leaf.needs->most);
    node.loan = leaf.loan * kLoanWeight;
    node.before = leaf.newest == nullptr ? 0 : leaf.newest->entitled;
  }
}

Status TenantPlanner::share_out(const PlanRequest& request, StepBudget& budget) {
  set_wishes();
  for (auto& [tenant, leaf] : leaves_) {
    const bool rests = !leaf.changed && leaf.looked_at.empty() && leaf.planner->rests(request.view.now);
    leaf.changed = false;
    leaf.targets = {};
    leaf.mark = leaf.newest == nullptr ? Mark() : leaf.newest->mark;
    if (rests) continue;
    leaf.used_within.clear();
    leaf.most.reset();
  }
  const int slots = slots_to_share(request.view.state);
  bool is_settled = false;
  for (int round = 0; round < kRoundsMost && !is_settled; ++round) {
    shares_ = entitlements(nodes_, slots);
    is_settled = true;
    for (auto& [tenant, leaf] : leaves_) {
      const auto moved = ask_within(leaf, request, budget);
      if (!moved) return moved.error();
      is_settled = is_settled && !*moved;
    }
  }
  if (!is_settled) shares_ = entitlements(nodes_, slots);
  for (auto& [tenant, leaf] : leaves_) {
    const auto most = leaf.sated ? std::nullopt : std::optional(shares_[leaf.node]);
    if (!leaf.most || *leaf.most != most) TP_TRY(ask(leaf, request, most, budget));
  }
  return ok_status();
}

// Whether it turns out to want something else than was taken for its share.
Result<bool> TenantPlanner::ask_within(Leaf& leaf, const PlanRequest& request, StepBudget& budget) {
  TenantNode& node = nodes_[leaf.node];
  const int share = shares_[leaf.node];
  const auto now_wants = [&](std::int64_t slots) {
    const int before = std::exchange(node.wanted, as_slots(slots));
    return before != node.wanted;
  };
  leaf.sated = leaf.sated || (!leaf.stuck && share >= leaf.needs->most);  // no bound is needed
  if (leaf.sated) {
    const auto all = used(leaf, request, std::nullopt, budget);
    if (!all) return all.error();
    if (*all <= share) return now_wants(*all);
    leaf.sated = false;
    node.wanted = as_slots(leaf.needs->most);
    return true;
  }
  const auto within = used(leaf, request, share, budget);
  if (!within) return within.error();
  if (leaf.stuck || *within >= share) return false;
  const auto all = used(leaf, request, std::nullopt, budget);
  if (!all) return all.error();
  leaf.sated = *all <= share;
  leaf.stuck = !leaf.sated;
  node.wanted = as_slots(leaf.sated ? *all : *within);
  return true;
}

Result<std::int64_t> TenantPlanner::used(Leaf& leaf, const PlanRequest& request, std::optional<int> most,
                                         StepBudget& budget) {
  const auto known = [&] {
    return std::find_if(leaf.used_within.begin(), leaf.used_within.end(),
                        [&](const auto& any) { return any.first == most; });
  };
  if (const auto found = known(); found != leaf.used_within.end()) return found->second;
  TP_TRY(ask(leaf, request, most, budget));
  return known()->second;
}

Status TenantPlanner::ask(Leaf& leaf, const PlanRequest& request, std::optional<int> most, StepBudget& budget) {
  const std::function<bool(const Job&)> counts = [&](const Job& job) {
    return request.counts(job) && !held_back_.contains(job.id);
  };
  auto answer = leaf.planner->plan({.view = request.view,
                                    .jobs = leaf.needs->jobs,
                                    .looked_at = leaf.looked_at,
                                    .counts = counts,
                                    .has_own_policy = request.has_own_policy,
                                    .nodes = request.nodes,
                                    .mark = leaf.newest == nullptr ? Mark() : leaf.newest->mark,
                                    .slots_most = most},
                                   budget);
  if (!answer) return answer.error();
  std::int64_t used = leaf.needs->given;
  for (const auto& [id, target] : answer->targets) {
    const JobNeed& need = *needs_.find(id);
    used += given_by(need, *request.view.state.find_job(id), target.size) - need.given;
  }
  leaf.most = most;
  leaf.targets = std::move(answer->targets);
  leaf.mark = std::move(answer->mark);
  leaf.wake = answer->wake;
  std::erase_if(leaf.used_within, [&](const auto& any) { return any.first == most; });
  leaf.used_within.emplace_back(most, used);
  return ok_status();
}

PlanAnswer TenantPlanner::joined(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  PlanAnswer joined{.targets = {}, .whole = false, .mark = {}, .wake = {}};
  joined.by_tenants = true;
  joined.counts_loans = counts_loans_;
  for (auto& [tenant, leaf] : leaves_) {
    for (auto& [id, target] : leaf.targets) joined.targets.emplace(id, std::move(target));
    if (leaf.wake && (!joined.wake || *leaf.wake < *joined.wake)) joined.wake = leaf.wake;
    TenantPlan now{.entitled = shares_[leaf.node],
                   .wanted = nodes_[leaf.node].wanted,
                   .sated = leaf.sated,
                   .loan = leaf.loan,
                   .counted_use = leaf.counted_use,
                   .mark = std::move(leaf.mark)};
    if (leaf.newest == nullptr || now != *leaf.newest) {
      joined.tenants.push_back({.tenant = tenant, .now = std::move(now)});
    }
  }
  for (const auto& [tenant, plan] : state.plan.tenants) {
    if (!leaves_.contains(tenant)) joined.tenants.push_back({.tenant = tenant, .now = std::nullopt});
  }
  std::sort(joined.tenants.begin(), joined.tenants.end(),
            [](const TenantChange& a, const TenantChange& b) { return a.tenant < b.tenant; });
  for (const auto& [id, reason] : held_back_) {
    const Job& job = *state.find_job(id);
    Target target{.size = 0, .reason = reason};
    if (request.counts(job) && is_news(job, target, request.view.now)) joined.targets.emplace(id, std::move(target));
  }
  return joined;
}

}  // namespace tidepool::core
