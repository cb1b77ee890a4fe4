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

const TenantPlan& newest_plan(const ClusterState& state, const std::string& tenant) {
  static const TenantPlan none;
  const auto known = state.plan.tenants.find(tenant);
  return known == state.plan.tenants.end() ? none : known->second;
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
  const Job* job = state.find_job(id);
  const JobNeed* known = needs_.find(id);
  for (auto& [tenant, leaf] : leaves_) {
    // Every planner learns from jobs that have ended.
    const bool concerns = job == nullptr || job->spec.tenant == tenant || (known != nullptr && known->tenant == tenant);
    if (concerns) leaf.planner->follow(state, id);
  }
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
  hold_back(request);
  const ClusterState& state = request.view.state;
  const auto counted = state.plan.loans_counted;
  counts_loans_ = !counted || request.view.now >= *counted + state.tenants->rebalance_every;
  loans_.clear();
  for (auto& [tenant, leaf] : leaves_) loans_.emplace(tenant, loan_of(request, tenant, counts_loans_));
  TP_TRY(share_out(request, budget));
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
      need.most = is_claim ? std::max(held, need.firm) : job->spec.elastic.sizes.back() * each;
    }
    needs_.put(id, &need);
  }
}

// One for each tenant with jobs; planners of new ones learn all that there is to know.
void TenantPlanner::set_leaves(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  std::erase_if(leaves_, [&](const auto& leaf) { return !needs_.by_tenant().contains(leaf.first); });
  for (const auto& [tenant, sums] : needs_.by_tenant()) {
    const auto node = index_.find(tenant);
    if (leaves_.contains(tenant) || node == index_.end()) continue;
    Leaf& leaf = leaves_[tenant];
    leaf.node = node->second;
    leaf.planner = policy_.planner();
    for (const JobId id : sums.jobs) leaf.planner->follow(state, id);
    for (const auto& [id, ended] : state.ended) leaf.planner->follow(state, id);
  }
  for (auto& [tenant, leaf] : leaves_) leaf.looked_at = {};
  for (const JobId id : request.looked_at) {
    const JobNeed* need = needs_.find(id);
    const auto leaf = need == nullptr ? leaves_.end() : leaves_.find(need->tenant);
    if (leaf != leaves_.end()) leaf->second.looked_at.insert(id);
  }
}

void TenantPlanner::hold_back(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  std::vector<std::int64_t> firm(nodes_.size(), 0);
  const auto above = [&](std::size_t node, const auto& visit) {
    for (int at = static_cast<int>(node); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      visit(static_cast<std::size_t>(at));
    }
  };
  std::vector<std::tuple<int, Instant, JobId>> waiting;
  for (const auto& [tenant, leaf] : leaves_) {
    for (const JobId id : needs_.by_tenant().at(tenant).firm) {
      const Job& job = *state.find_job(id);
      if (holds_nothing(job)) {
        waiting.emplace_back(-job.spec.priority, job.submitted_at, id);
      } else {
        above(leaf.node, [&](std::size_t node) { firm[node] += needs_.find(id)->firm; });
      }
    }
  }
  std::sort(waiting.begin(), waiting.end());
  std::map<JobId, Reason> held_back;
  for (const auto& [priority, submitted, id] : waiting) {
    const JobNeed& need = *needs_.find(id);
    const std::size_t leaf = leaves_.at(need.tenant).node;
    std::optional<std::size_t> full;
    above(leaf, [&](std::size_t node) {
      if (!full && firm[node] + need.firm > nodes_[node].guarantee) full = node;
    });
    if (full) {
      held_back.emplace(id, reason::BeyondGuarantee{.needed = need.firm,
                                                    .held = as_slots(firm[*full]),
                                                    .guarantee = nodes_[*full].guarantee,
                                                    .word = state.tenants->tenants[*full].name});
    } else {
      above(leaf, [&](std::size_t node) { firm[node] += need.firm; });
    }
  }
  const auto tell = [&](const std::map<JobId, Reason>& these, const std::map<JobId, Reason>& others) {
    for (const auto& [id, reason] : these) {
      const JobNeed* need = needs_.find(id);
      if (others.contains(id) || need == nullptr) continue;
      if (const auto leaf = leaves_.find(need->tenant); leaf != leaves_.end()) leaf->second.planner->follow(state, id);
    }
  };
  tell(held_back, held_back_);
  tell(held_back_, held_back);
  held_back_ = std::move(held_back);
}

TenantPlanner::Loan TenantPlanner::loan_of(const PlanRequest& request, const std::string& tenant,
                                           bool counts_loans) const {
  const ClusterState& state = request.view.state;
  const TenantPlan& newest = newest_plan(state, tenant);
  Loan loan{.slots = newest.loan, .counted_use = newest.counted_use};
  if (!counts_loans) return loan;
  const auto used = state.tenant_uses.find(tenant);
  const Duration use = used == state.tenant_uses.end() ? Duration() : used->second.slot_time;
  const auto counted = state.plan.loans_counted;
  const bool is_known = counted && state.plan.tenants.contains(tenant);
  const double passed = is_known ? (request.view.now - *counted).to_seconds() : 0;
  if (passed > 0) {
    const bool is_wanted = std::any_of(state.plan.tenants.begin(), state.plan.tenants.end(),
                                       [&](const auto& other) { return other.first != tenant && !other.second.sated; });
    const double held = (use - loan.counted_use).to_seconds() / passed;
    const double beyond = is_wanted ? std::max(0.0, held - state.tenants->find(tenant)->guarantee) : 0;
    const double kept = std::exp2(-passed / state.tenants->half_life.to_seconds());
    loan.slots = loan.slots * kept + beyond * (1 - kept);
  }
  loan.counted_use = use;
  return loan;
}

// What each wants by what its newest plan has found.
void TenantPlanner::set_wishes(const ClusterState& state) {
  for (TenantNode& node : nodes_) {
    node.wanted = node.before = 0;
    node.loan = 0;
  }
  for (auto& [tenant, leaf] : leaves_) {
    const TenantPlan& newest = newest_plan(state, tenant);
    leaf.is_asked = false;
    leaf.stuck = false;
    leaf.sated = newest.sated;
    TenantNode& node = nodes_[leaf.node];
    node.wanted = as_slots(newest.sated ? newest.wanted : needs_.by_tenant().at(tenant).most);
    node.loan = loans_.at(tenant).slots * kLoanWeight;
    node.before = newest.entitled;
  }
}

Status TenantPlanner::share_out(const PlanRequest& request, StepBudget& budget) {
  const ClusterState& state = request.view.state;
  set_wishes(state);
  const int slots = slots_to_share(state);
  bool is_settled = false;
  for (int round = 0; round < kRoundsMost && !is_settled; ++round) {
    shares_ = entitlements(nodes_, slots);
    is_settled = true;
    for (auto& [tenant, leaf] : leaves_) {
      const auto moved = ask_within(tenant, leaf, request, budget);
      if (!moved) return moved.error();
      is_settled = is_settled && !*moved;
    }
  }
  shares_ = entitlements(nodes_, slots);
  for (auto& [tenant, leaf] : leaves_) {
    TP_TRY(ask(leaf, request, leaf.sated ? std::nullopt : std::optional(shares_[leaf.node]), budget));
  }
  return ok_status();
}

// Whether it turns out to want something else than was taken for its share.
Result<bool> TenantPlanner::ask_within(const std::string& tenant, Leaf& leaf, const PlanRequest& request,
                                       StepBudget& budget) {
  TenantNode& node = nodes_[leaf.node];
  const int share = shares_[leaf.node];
  const auto now_wants = [&](std::int64_t slots) {
    const int before = std::exchange(node.wanted, as_slots(slots));
    return before != node.wanted;
  };
  if (leaf.sated) {
    TP_TRY(ask(leaf, request, std::nullopt, budget));
    if (leaf.used <= share) return now_wants(leaf.used);
    leaf.sated = false;
    node.wanted = as_slots(needs_.by_tenant().at(tenant).most);
    return true;
  }
  TP_TRY(ask(leaf, request, share, budget));
  if (leaf.stuck) return false;
  if (leaf.used >= share) {
    leaf.sated = share >= needs_.by_tenant().at(tenant).most;
    return leaf.sated && now_wants(leaf.used);
  }
  const std::int64_t within = leaf.used;
  TP_TRY(ask(leaf, request, std::nullopt, budget));
  leaf.sated = leaf.used <= share;
  leaf.stuck = !leaf.sated;
  node.wanted = as_slots(leaf.sated ? leaf.used : within);
  return true;
}

Status TenantPlanner::ask(Leaf& leaf, const PlanRequest& request, std::optional<int> most, StepBudget& budget) {
  if (leaf.is_asked && leaf.most == most) return ok_status();
  const TenantNeeds::Sums& sums = needs_.by_tenant().at(request.view.state.tenants->tenants[leaf.node].name);
  const std::function<bool(const Job&)> counts = [&](const Job& job) {
    return request.counts(job) && !held_back_.contains(job.id);
  };
  const Mark& mark = newest_plan(request.view.state, request.view.state.tenants->tenants[leaf.node].name).mark;
  auto answer = leaf.planner->plan({.view = request.view,
                                    .jobs = sums.jobs,
                                    .looked_at = leaf.looked_at,
                                    .counts = counts,
                                    .has_own_policy = request.has_own_policy,
                                    .nodes = request.nodes,
                                    .mark = mark,
                                    .slots_most = most},
                                   budget);
  if (!answer) return answer.error();
  leaf.answer = *std::move(answer);
  leaf.is_asked = true;
  leaf.most = most;
  leaf.used = sums.given;
  for (const auto& [id, target] : leaf.answer.targets) {
    const JobNeed& need = *needs_.find(id);
    leaf.used += given_by(need, *request.view.state.find_job(id), target.size) - need.given;
  }
  return ok_status();
}

PlanAnswer TenantPlanner::joined(const PlanRequest& request) {
  const ClusterState& state = request.view.state;
  PlanAnswer joined{.targets = {}, .whole = false, .mark = {}, .wake = {}};
  joined.counts_loans = counts_loans_;
  for (auto& [tenant, leaf] : leaves_) {
    for (auto& [id, target] : leaf.answer.targets) joined.targets.emplace(id, std::move(target));
    if (leaf.answer.wake && (!joined.wake || *leaf.answer.wake < *joined.wake)) joined.wake = leaf.answer.wake;
    TenantPlan now{.entitled = shares_[leaf.node],
                   .wanted = nodes_[leaf.node].wanted,
                   .sated = leaf.sated,
                   .loan = loans_.at(tenant).slots,
                   .counted_use = loans_.at(tenant).counted_use,
                   .mark = std::move(leaf.answer.mark)};
    if (now != newest_plan(state, tenant) || !state.plan.tenants.contains(tenant)) {
      joined.tenants.push_back({.tenant = tenant, .now = std::move(now)});
    }
    leaf.answer = {};
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
