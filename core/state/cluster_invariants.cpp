#include "core/state/cluster_invariants.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/id_set.hpp"
#include "core/state/account.hpp"
#include "core/state/job_state.hpp"
#include "core/state/listed_price.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"
#include "core/state/tenant_jobs.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

using Broken = std::optional<std::string>;

Broken broken(const char* law, const std::string& where) {
  return std::string(law) + ": " + where;
}

Broken worker_breaks(const ClusterState& state, const Job& job, WorkerId id) {
  const std::string name = id.text() + " of " + job.id.text();
  const Worker* worker = state.find_worker(id);
  if (worker == nullptr || worker->job != job.id || worker->id != id) return broken("JobOwnsItsWorkers", name);
  const Node* node = state.find_node(worker->node);
  if (node == nullptr) return broken("WorkerIsOnANode", name);
  if (worker->slots.size() != static_cast<std::size_t>(job.spec.gpus_per_worker)) return broken("GangIsWhole", name);
  for (const int slot : worker->slots) {
    const bool exists = slot >= 0 && static_cast<std::size_t>(slot) < node->owners.size();
    if (!exists || node->owners[static_cast<std::size_t>(slot)] != id) return broken("SlotHasOneOwner", name);
  }
  if (worker->node_lost != (node->state == NodeState::kLost)) return broken("LostNodeLosesItsWorkers", name);
  if (!is_active(job.state()) && worker->phase != WorkerPhase::kLeaving)
    return broken("OnlyActiveJobsHoldWorkers", name);
  return std::nullopt;
}

Broken transition_breaks(const ClusterState& state, const Job& job, const IdSet<WorkerId>& members) {
  if (!job.phase.transition() || job.phase.transition()->committed) return std::nullopt;
  for (const WorkerId id : job.phase.transition()->joining_workers) {
    const Worker* worker = state.find_worker(id);
    const bool boots = worker != nullptr && worker->job == job.id &&
                       (worker->phase == WorkerPhase::kStarting || worker->phase == WorkerPhase::kReady);
    if (!boots) return broken("JoiningWorkersBoot", id.text() + " of " + job.id.text());
  }
  for (const WorkerId id : job.phase.transition()->leaving_workers) {
    if (!members.contains(id)) return broken("LeavingWorkersAreMembers", id.text() + " of " + job.id.text());
  }
  return std::nullopt;
}

Broken shares_break(const Job& job) {
  const auto fits = [&](const SampleWeights& table) {
    return table.weights.empty() ? table.number == 0
                                 : table.number > 0 && table.weights.size() == job.membership.members.size();
  };
  if (!fits(job.shares.ordered) || !fits(job.shares.used)) return broken("EveryMemberHasAShare", job.id.text());
  if (job.shares.used.number > job.shares.ordered.number) return broken("SharesAreTold", job.id.text());
  const bool waits = job.shares.used.number < job.shares.ordered.number;
  if (job.shares.awaited && !waits) return broken("OrderedSharesAreWaitedFor", job.id.text());
  for (const auto& [id, rebalanced] : job.shares.rebalanced) {
    const bool eases = contains(job.membership.members, id) && rebalanced.weight >= 1 && rebalanced.weight < kFullShare;
    if (!eases) return broken("OnlyMembersAreEased", id.text() + " of " + job.id.text());
  }
  return std::nullopt;
}

Broken move_breaks(const ClusterState& state, const Job& job) {
  const auto& moving = job.recovery.moving;
  if (!moving) return std::nullopt;
  if (job.state() != JobState::kStarting || !job.membership.members.empty())
    return broken("StateMovesBeforeTheStart", job.id.text());
  const auto& workers = job.membership.workers;
  const bool awaited = std::any_of(workers.begin(), workers.end(), [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && awaits(*moving, *worker);
  });
  if (!awaited) return broken("MovingStateIsAwaited", job.id.text());
  if (moving->from == moving->to) return broken("StateMovesBetweenNodes", job.id.text());
  return std::nullopt;
}

Broken membership_breaks(const ClusterState& state, const Job& job) {
  const std::string name = job.id.text();
  if (!is_active(job.state()) && (!job.membership.members.empty() || job.phase.transition()))
    return broken("IdleJobsHaveNoMembers", name);
  if (job.state() == JobState::kResizing && !job.phase.transition()) return broken("ResizingHasATransition", name);
  const IdSet<WorkerId> members(job.membership.members.begin(), job.membership.members.end());
  if (members.size() != job.membership.members.size()) return broken("MemberHasOneRank", name);
  const auto& elastic = job.spec.elastic;
  if (!job.membership.members.empty() && (job.size() < elastic.min || job.size() > elastic.max)) {
    return broken("SizeWithinBounds", name);
  }
  if (job.size() % elastic.group != 0) return broken("GroupsAreWhole", name);
  if (!job.membership.members.empty() && job.membership.generation == 0) return broken("MembersHaveAGeneration", name);
  if (job.membership.restart_state.launched > job.membership.generation) return broken("LaunchIsOfTheNewest", name);
  if (job.spec.resize == ResizeMode::kLive && job.membership.restart_state.launched != 0)
    return broken("OnlyRestartsLaunch", name);
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker != nullptr && worker->job != job.id) return broken("JobOwnsItsMembers", name);
  }
  if (auto law = move_breaks(state, job)) return law;
  if (auto law = shares_break(job)) return law;
  return transition_breaks(state, job, members);
}

// A budget's rate follows from the slots of the jobs that count in it.
Broken budgets_break(const ClusterState& state) {
  if (state.budgets.empty()) return std::nullopt;
  std::map<std::string, Money> rates;
  for (const auto& [id, job] : state.jobs) {
    const Money rate = price_per_hour(state, *job);
    for (const Tenant* tenant : state.tenants->path_to(job->spec.tenant)) rates[tenant->name] += rate;
    const bool is_held = job->hold && !is_final(job->state());
    if (is_held && !state.budgets.contains(job->hold->tenant)) return broken("ABudgetHolds", id.text());
  }
  for (const auto& [tenant, account] : state.budgets) {
    if (account.rate != rates[tenant]) return broken("BudgetsCountWhatJobsHold", tenant);
  }
  return std::nullopt;
}

// The price of a node that is up is the list's price at the time of the newest fact.
Broken prices_break(const ClusterState& state) {
  const Prices& prices = *state.prices;
  if (prices.list.empty()) return std::nullopt;
  const auto pools = state.pools.by_node();
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp) continue;
    const auto pool = pools.find(id);
    const NodePool* of_node = pool == pools.end() ? nullptr : pool->second;
    const auto by_rule = price_by(price_source(prices.list, node, of_node), utc_us(state, state.now));
    const Money price = by_rule ? by_rule->price : own_price(state, node);
    if (node.price_per_slot_hour != price) return broken("PricesFollowTheList", id.text());
    const auto listed = prices.nodes.find(id);
    const bool is_listed = listed != prices.nodes.end();
    const bool names_it = by_rule ? is_listed && listed->second.rule == by_rule->rule->name : !is_listed;
    if (!names_it) return broken("PricesNameTheirRule", id.text());
  }
  return std::nullopt;
}

// The other direction: every owner of a slot is a worker that knows the slot.
Broken slots_break(const ClusterState& state) {
  std::size_t owned = 0;
  for (const auto& [id, node] : state.nodes) {
    for (std::size_t slot = 0; slot < node.owners.size(); ++slot) {
      if (!node.owners[slot]) continue;
      ++owned;
      const Worker* worker = state.find_worker(node.owners[slot]);
      const bool known = worker != nullptr && worker->node == id &&
                         std::count(worker->slots.begin(), worker->slots.end(), static_cast<int>(slot)) == 1;
      if (!known) return broken("NoLostRelease", id.text() + " slot " + std::to_string(slot));
    }
  }
  std::size_t held = 0;
  for (const auto& [id, worker] : state.workers) held += worker.slots.size();
  if (owned != held)
    return broken("SlotsAreConserved", std::to_string(owned) + " owned, " + std::to_string(held) + " held");
  return std::nullopt;
}

Broken ids_break(const ClusterState& state) {
  const auto above = [](const auto& map, std::uint64_t next) { return !map.empty() && map.last().number() >= next; };
  if (above(state.jobs, state.next_job) || above(state.nodes, state.next_node) ||
      above(state.workers, state.next_worker)) {
    return broken("IdsAreHandedOutOnce", "a counter is behind");
  }
  return std::nullopt;
}

}  // namespace

Broken broken_invariant_of(const ClusterState& state, JobId id) {
  const Job& job = *state.find_job(id);
  for (std::size_t i = 0; i < job.membership.workers.size(); ++i) {
    if (i > 0 && job.membership.workers[i - 1] >= job.membership.workers[i]) return broken("WorkersAscend", id.text());
    if (auto law = worker_breaks(state, job, job.membership.workers[i])) return law;
  }
  return membership_breaks(state, job);
}

Broken broken_invariant(const ClusterState& state) {
  std::size_t listed = 0;
  for (const auto& [id, job] : state.jobs) {
    if (job == nullptr || job->id != id) return broken("JobKnowsItsId", id.text());
    if (auto law = broken_invariant_of(state, id)) return law;
    listed += job->membership.workers.size();
  }
  if (listed != state.workers.size()) return broken("WorkerHasAJob", "a worker that no job lists");
  if (auto law = slots_break(state)) return law;
  if (auto law = budgets_break(state)) return law;
  if (state.tenant_jobs != count_jobs(state, *state.tenants))
    return broken("TenantsCountTheirJobs", "another number than a recount");
  if (auto law = prices_break(state)) return law;
  return ids_break(state);
}

}  // namespace tidepool::core
