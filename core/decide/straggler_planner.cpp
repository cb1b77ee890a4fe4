#include "core/decide/straggler_planner.hpp"

#include <algorithm>
#include <utility>

#include "core/decide/rebalance_planner.hpp"
#include "core/place/together.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// With one worker fewer each of the others computes more; it must pay by this much.
constexpr double kShrinkGain = 1.05;

// Beside a member with a smaller share alone it looks slow where that share has become too small.
bool has_full_peer(const Job& job, WorkerId member) {
  const auto& members = job.membership.members;
  return std::any_of(members.begin(), members.end(),
                     [&](WorkerId id) { return id != member && !job.shares.rebalanced.contains(id); });
}

// The member whose slowness has cost most, of those that are slow, or of the rebalanced ones too; of equals the first.
const Worker* costliest(const ClusterState& state, const Job& job, bool eased_too) {
  const Worker* worst = nullptr;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker->track.slow_steps == 0 && !(eased_too && job.shares.rebalanced.contains(id))) continue;
    if (!has_full_peer(job, id)) continue;
    const auto rank = [&](const Worker& one) { return std::pair(-cost_so_far(job, one), one.id); };
    if (worst == nullptr || rank(*worker) < rank(*worst)) worst = worker;
  }
  return worst;
}

double share(std::int64_t weight) {
  return static_cast<double>(weight) / static_cast<double>(kFullShare);
}

// Its share as the intent orders it.
double share_to_be(const Job& job, const RebalanceIntent& intent) {
  const auto rank = std::find(job.membership.members.begin(), job.membership.members.end(), intent.worker) -
                    job.membership.members.begin();
  return share(intent.weights[static_cast<std::size_t>(rank)]);
}

// A change of shares, if one pays now.
std::optional<StragglerPlan> plan_shares(const DecisionDraft& draft, const Job& job) {
  if (auto intent = regain(draft, job)) {
    const double was = share(share_of(job, intent->worker));
    const reason::SharesRegained why{{.worker = intent->worker}, share_to_be(job, *intent), was};
    return StragglerPlan{.rebalance = std::move(intent), .reason = why};
  }
  const Worker* slow = costliest(draft.state(), job, false);
  if (slow == nullptr || slow->track.slow_steps < kStragglerStreak) return std::nullopt;
  const double due_s = due_after(job, slow->id, false);
  if (slow->track.waited_s < due_s) return std::nullopt;
  auto intent = ease(draft, job, *slow);
  if (!intent) return std::nullopt;
  const Worker& worker = *draft.state().find_worker(intent->worker);
  const reason::StragglerRebalanced why{slow_worker(draft.state(), worker, due_s), share_to_be(job, *intent),
                                        share(share_of(job, worker.id))};
  return StragglerPlan{.rebalance = std::move(intent), .reason = why};
}

// With its group, which it leaves with.
bool replace(DecisionDraft& draft, const Job& job, const Worker& slow, Follows follows) {
  std::vector<WorkerId> leaving = with_groups(job, {slow.id});
  GangRequest request = gang_beside_members(draft.state(), job, static_cast<int>(leaving.size()), leaving);
  request.avoid = slow.node;
  request.avoid_always = follows == Follows::kNode;
  request.slot_types = draft.types_for_more(job);
  auto spare = draft.free_slots().take(std::move(request), draft.next_worker());
  if (!spare) return false;
  const reason::StragglerReplaced reason{slow_worker(draft.state(), slow, cost_of_replacing(job))};
  if (!has_groups(job.spec)) {
    draft.conclude(job, ReplaceIntent{job.id, spare->front(), slow.id}, reason);
    return true;
  }
  const auto its = std::find(leaving.begin(), leaving.end(), slow.id);
  std::rotate(leaving.begin(), its, its + 1);
  draft.conclude(job, MoveIntent{job.id, *std::move(spare), std::move(leaving), ReplaceCause::kStraggler}, reason);
  return true;
}

// The job may do without the slow worker and its group, and is faster then: n - 1 workers at the others' pace do more
// than n at its pace, the batch staying the same.
bool gains_by_shrinking(const DecisionDraft& draft, const Job& job, const Worker& slow) {
  const auto& elastic = job.spec.elastic;
  const int smaller = job.size() - elastic.group;
  const bool allowed = std::binary_search(elastic.sizes.begin(), elastic.sizes.end(), smaller);
  const bool kept = job.last_start_at && draft.now() < *job.last_start_at + elastic.min_runtime;
  if (job.requests.pinned_size != 0 || !allowed || kept) return false;
  return smaller > kShrinkGain * job.size() * slow.track.score;
}

void shrink(DecisionDraft& draft, const Job& job, const Worker& slow) {
  const reason::StragglerShrunk reason{slow_worker(draft.state(), slow, cost_of_shrinking(job))};
  draft.shrink(job, ShrinkIntent{job.id, with_groups(job, {slow.id}), slow.id}, reason);
}

// It keeps its smaller share, and a replacement is what comes next.
Reason kept_eased(const ClusterState& state, const Job& job, const Worker& slow) {
  return reason::StragglerEased{slow_worker(state, slow, cost_of_replacing(job)), share(share_of(job, slow.id))};
}

// A worker that must go by the rule: replaced if there is room, else given up if that pays. One with a smaller share
// stays: it does more than nothing.
StragglerPlan act(DecisionDraft& draft, const Job& job, const Worker& slow, Follows follows) {
  if (replace(draft, job, slow, follows)) return {.acted = true};
  const bool may_go = !job.shares.rebalanced.contains(slow.id) && gains_by_shrinking(draft, job, slow);
  const double cost_s = may_go ? cost_of_shrinking(job) : 0;
  if (cost_s > 0 && slow.track.waited_s >= cost_s) {
    shrink(draft, job, slow);
    return {.acted = true};
  }
  return {.needs_slot = true,
          .reason = reason::StragglerNoSpare{slow_worker(draft.state(), slow, cost_s)},
          .straggler = slow.id};
}

// A smaller share is what comes next, as soon as the name has stuck and waiting has cost enough.
bool may_be_eased(const EngineConfig& config, const Job& job, const Worker& slow) {
  const bool early = slow.track.slow_steps < kStragglerStreak || slow.track.waited_s < due_after(job, slow.id, false);
  return config.rebalance_stragglers && job.spec.resize == ResizeMode::kLive && early;
}

// Whether a probe of its node could tell what its slowness goes with; asked once for as long as it is slow.
bool wants_probe(const Worker& slow, Follows follows) {
  const bool judged = slow.track.slow_steps >= kStragglerStreak && slow.track.steps >= kStepsToKnow;
  return follows == Follows::kUnknown && judged && !slow.track.probed;
}

}  // namespace

double cost_of_replacing(const Job& job) {
  return cost_of_replacing(job, job.size());
}

double cost_of_shrinking(const Job& job) {
  const double pause_s = change_stall(job, &TypeRecords::shrink_cost, job.size() - 1).to_seconds();
  return job.spec.gpus_per_worker * job.size() * pause_s + cost_of_replacing(job);
}

double cost_so_far(const Job& job, const Worker& worker) {
  const auto rebalanced = job.shares.rebalanced.find(worker.id);
  return rebalanced == job.shares.rebalanced.end() ? worker.track.waited_s : rebalanced->second.lost_s;
}

// The detector sees a rebalanced worker keep step; how fast it is, its share tells.
double speed_of(const ClusterState& state, const Job& job, const Worker& worker) {
  if (!job.shares.rebalanced.contains(worker.id)) return worker.track.score;
  return eased_speed(state, job, worker.id).value_or(share(share_of(job, worker.id)));
}

reason::SlowWorker slow_worker(const ClusterState& state, const Worker& worker, double cost_s) {
  const Diagnosis diagnosis = diagnose(state, worker);
  const Job& job = *state.find_job(worker.job);
  return {.worker = worker.id,
          .score = speed_of(state, job, worker),
          .threshold = worker.track.bar,
          .waited_s = cost_so_far(job, worker),
          .cost_s = cost_s,
          .follows = diagnosis.follows,
          .node_peers = diagnosis.node_peers,
          .node_slow = diagnosis.node_slow,
          .node = worker.node,
          .node_speed = diagnosis.node_speed};
}

StragglerPlan plan_straggler(DecisionDraft& draft, const Job& job, bool may_resize) {
  const EngineConfig& config = draft.parts().config;
  if (!config.replace_stragglers || job.size() < 2) return {};
  if (job.shares.awaited) return {.weights_ordered = true};
  if (auto shares = plan_shares(draft, job)) return *std::move(shares);
  const Worker* slow = costliest(draft.state(), job, true);
  if (slow == nullptr) return {};
  const bool rebalanced = job.shares.rebalanced.contains(slow->id);
  const Follows follows = diagnose(draft.state(), *slow).follows;
  if (follows == Follows::kData && !rebalanced) {
    return {.reason = reason::StragglerInData{slow_worker(draft.state(), *slow, 0)}, .straggler = slow->id};
  }
  const double cost_s = cost_of_replacing(job);
  if (wants_probe(*slow, follows)) {
    draft.carry_out(ProbeIntent{job.id, slow->node, slow->id},
                    reason::StragglerWatched{slow_worker(draft.state(), *slow, cost_s)});
  }
  const auto next = next_replacement(job);
  const bool early = (!rebalanced && slow->track.slow_steps < kStragglerStreak) || (next && draft.now() < *next);
  if (!may_resize || early || follows == Follows::kData || cost_so_far(job, *slow) < cost_s) {
    if (rebalanced) return {.reason = kept_eased(draft.state(), job, *slow), .straggler = slow->id};
    const bool by_share = may_be_eased(config, job, *slow);
    const double next_s = by_share ? due_after(job, slow->id, false) : cost_s;
    return {.reason = reason::StragglerWatched{slow_worker(draft.state(), *slow, next_s), by_share},
            .straggler = slow->id};
  }
  return act(draft, job, *slow, follows);
}

}  // namespace tidepool::core
