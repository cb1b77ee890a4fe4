#include "schedulerd/core/straggler_planner.hpp"

#include <algorithm>

#include "schedulerd/core/straggler_diagnosis.hpp"
#include "schedulerd/core/straggler_patience.hpp"

namespace tidepool::core {
namespace {

// Until a pause of any kind has been measured, a second is taken for one: dearer than most, so that the first action
// is not taken lightly.
constexpr double kPauseUnknownMs = 1'000;

// With one worker fewer each of the others computes more; it must pay by this much.
constexpr double kShrinkGain = 1.05;

double pause_ms(const TransitionCost& best, const TransitionCost& second) {
  if (best.count > 0) return best.mean_stall_ms;
  return second.count > 0 ? second.mean_stall_ms : kPauseUnknownMs;
}

// The slow member that the others have waited for most.
const Worker* most_waited_for(const ClusterState& state, const Job& job) {
  const Worker* worst = nullptr;
  std::vector<WorkerId> members = job.members;
  std::sort(members.begin(), members.end());
  for (const WorkerId id : members) {
    const Worker* worker = state.find_worker(id);
    if (worker->track.slow_steps == 0) continue;
    if (worst == nullptr || worker->track.waited_s > worst->track.waited_s) worst = worker;
  }
  return worst;
}

bool replace(DecisionDraft& draft, const Job& job, const Worker& slow, Follows follows) {
  GangRequest request{1, job.spec.gpus_per_worker, job.spec.pack_node, {}, slow.node};
  for (const WorkerId id : job.members) request.prefer.insert(draft.state().find_worker(id)->node);
  request.avoid_always = follows == Follows::kNode;
  auto spare = draft.free_slots().take(std::move(request), draft.next_worker());
  if (!spare) return false;
  draft.conclude(job, ReplaceIntent{job.id, spare->front(), slow.id},
                 straggler_reason(ReasonCode::kStragglerReplaced, draft.state(), slow, cost_of_replacing(job)));
  return true;
}

// The job may have one worker fewer, and is faster without the slow one: n - 1 workers at the others' pace do more
// than n at its pace, the batch staying the same.
bool gains_by_shrinking(const DecisionDraft& draft, const Job& job, const Worker& slow) {
  const auto& elastic = job.spec.elastic;
  const int smaller = job.size() - 1;
  const bool allowed = std::binary_search(elastic.sizes.begin(), elastic.sizes.end(), smaller);
  const bool kept = job.last_start_at && draft.now() < *job.last_start_at + elastic.min_runtime;
  if (job.pinned_size != 0 || !allowed || kept) return false;
  return smaller > kShrinkGain * job.size() * slow.track.score;
}

void shrink(DecisionDraft& draft, const Job& job, const Worker& slow) {
  const Reason reason = straggler_reason(ReasonCode::kStragglerShrunk, draft.state(), slow, cost_of_shrinking(job));
  std::vector<WorkerId> members = job.members;
  std::erase(members, slow.id);
  draft.conclude(job, ShrinkIntent{job.id, {slow.id}}, reason);
  draft.carry_out(SwitchIntent{job.id, job.generation + 1, std::move(members), false}, reason);
}

// A worker that must go by the rule: replaced if there is room, else given up if that pays.
StragglerPlan act(DecisionDraft& draft, const Job& job, const Worker& slow, Follows follows) {
  if (replace(draft, job, slow, follows)) return {.acted = true};
  const double cost_s = gains_by_shrinking(draft, job, slow) ? cost_of_shrinking(job) : 0;
  if (cost_s > 0 && slow.track.waited_s >= cost_s) {
    shrink(draft, job, slow);
    return {.acted = true};
  }
  return {.needs_slot = true, .reason = straggler_reason(ReasonCode::kStragglerNoSpare, draft.state(), slow, cost_s)};
}

}  // namespace

double cost_of_replacing(const Job& job) {
  const double pause_s = pause_ms(job.replace_cost, job.grow_cost) * 1e-3;
  return job.spec.gpus_per_worker * (job.boot_cost.mean_ms * 1e-3 + job.size() * pause_s);
}

double cost_of_shrinking(const Job& job) {
  const double pause_s = pause_ms(job.shrink_cost, job.grow_cost) * 1e-3;
  return job.spec.gpus_per_worker * job.size() * pause_s + cost_of_replacing(job);
}

Reason straggler_reason(ReasonCode code, const ClusterState& state, const Worker& worker, double cost_s) {
  const Diagnosis diagnosis = diagnose(state, worker);
  return {code,
          {{"worker", as_number(worker.id)},
           {"score", worker.track.score},
           {"threshold", worker.track.bar},
           {"waited_s", worker.track.waited_s},
           {"cost_s", cost_s},
           {"follows", static_cast<double>(diagnosis.follows)},
           {"node_peers", static_cast<double>(diagnosis.node_peers)},
           {"node_slow", static_cast<double>(diagnosis.node_slow)}}};
}

StragglerPlan plan_straggler(DecisionDraft& draft, const Job& job) {
  if (!draft.parts().config.replace_stragglers || job.size() < 2) return {};
  const Worker* slow = most_waited_for(draft.state(), job);
  if (slow == nullptr) return {};
  const Follows follows = diagnose(draft.state(), *slow).follows;
  if (follows == Follows::kData) {
    return {.reason = straggler_reason(ReasonCode::kStragglerInData, draft.state(), *slow, 0)};
  }
  const double cost_s = cost_of_replacing(job);
  const auto next = next_replacement(job);
  const bool early = slow->track.slow_steps < kStragglerStreak || (next && draft.now() < *next);
  if (early || slow->track.waited_s < cost_s) {
    return {.reason = straggler_reason(ReasonCode::kStragglerWatched, draft.state(), *slow, cost_s)};
  }
  return act(draft, job, *slow, follows);
}

}  // namespace tidepool::core
