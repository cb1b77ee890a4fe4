#include "core/state/state_move.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

constexpr Duration kMoveSlack = Duration::seconds(60);
constexpr std::int64_t kBytesUnknown = std::int64_t{1} << 30;

bool is_up(const ClusterState& state, NodeId id) {
  const Node* node = state.find_node(id);
  return node != nullptr && node->state == NodeState::kUp;
}

}  // namespace

const SavedState* newest_kept(const Job& job) {
  if (!job.recovery.suspended) return job.recovery.checkpoint ? &*job.recovery.checkpoint : nullptr;
  if (job.recovery.checkpoint && job.recovery.checkpoint->step > job.recovery.suspended->step)
    return &*job.recovery.checkpoint;
  return &*job.recovery.suspended;
}

NodeId holder_of_state(const ClusterState& state, const Job& job) {
  if (!job.spec.checkpoint.dir.empty()) return {};
  if (job.spec.resize == ResizeMode::kRestart) {
    return state.find_node(job.membership.restart_state.home) != nullptr ? job.membership.restart_state.home : NodeId();
  }
  const SavedState* newest = newest_kept(job);
  if (newest == nullptr) return {};
  if (newest->origin && !is_up(state, newest->node) && is_up(state, newest->origin)) return newest->origin;
  return state.find_node(newest->node) != nullptr ? newest->node : NodeId();
}

bool can_be_fetched(const ClusterState& state, const Job& job) {
  const SavedState* kept = newest_kept(job);
  if (job.spec.resize == ResizeMode::kRestart || kept == nullptr || kept->step <= 0) return false;
  const NodeId holder = holder_of_state(state, job);
  return is_up(state, holder) && state.find_node(holder)->moves_states;
}

std::optional<StateMove> move_for(const ClusterState& state, const Job& job, const std::vector<WorkerPlacement>& gang) {
  if (!can_be_fetched(state, job)) return std::nullopt;
  const NodeId holder = holder_of_state(state, job);
  const SavedState& kept = *newest_kept(job);
  const auto has_it = [&](const WorkerPlacement& placed) {
    return placed.node == holder || placed.node == kept.node || placed.node == kept.origin;
  };
  if (std::any_of(gang.begin(), gang.end(), has_it)) return std::nullopt;
  for (const WorkerPlacement& placed : gang) {
    if (!state.find_node(placed.node)->moves_states) continue;
    return StateMove{.step = kept.step, .from = holder, .to = placed.node};
  }
  return std::nullopt;
}

bool awaits(const StateMove& move, const Worker& worker) {
  return worker.node == move.to && worker.phase == WorkerPhase::kStarting && !worker.is_gone();
}

Duration longest_move(std::int64_t bytes) {
  const std::int64_t known = bytes > 0 ? bytes : kBytesUnknown;
  return kMoveSlack + Duration::from_seconds(4 * static_cast<double>(known) / static_cast<double>(kStateRateMin));
}

}  // namespace tidepool::core
