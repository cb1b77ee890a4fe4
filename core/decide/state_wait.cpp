#include "core/decide/state_wait.hpp"

#include <algorithm>

#include "core/state/state_move.hpp"

namespace tidepool::core {
namespace {

constexpr double kMostSecondsToRedo = 1e9;  // what a program tells of its steps may be wild

// Time that the kept steps would take again at the fastest size measured; nothing if none is.
std::optional<Duration> time_to_redo(const Job& job) {
  const SavedState* kept = newest_kept(job);
  if (kept == nullptr || kept->step <= 0) return std::nullopt;
  std::optional<double> step_seconds;
  for (const auto& [size, record] : job.measurements.sizes) {
    if (record.steps > 0) step_seconds = std::min(step_seconds.value_or(record.step_seconds), record.step_seconds);
  }
  if (!step_seconds) return std::nullopt;
  return Duration::from_seconds(std::min(*step_seconds * static_cast<double>(kept->step), kMostSecondsToRedo));
}

std::optional<Duration> patience_of(const Job& job) {
  const auto redo = time_to_redo(job);
  return redo ? std::optional(std::min(*redo, kStateWaitMax)) : std::nullopt;
}

// Wherever the job may start, its state is brought there. Agents of before can neither hand it over nor fetch it.
bool comes_to_any_node(const ClusterState& state, const Job& job) {
  if (!can_be_fetched(state, job)) return false;
  for (const auto& [id, node] : state.nodes) {
    if (node.takes_workers() && !node.moves_states) return false;
  }
  return true;
}

}  // namespace

std::optional<Finding> waits_for_state(DecisionDraft& draft, const Job& job) {
  if (job.spec.resize == ResizeMode::kRestart) return std::nullopt;  // what its program keeps is not known
  const Node* home = draft.state().find_node(holder_of_state(draft.state(), job));
  if (home == nullptr || !home->takes_workers()) return std::nullopt;
  if (!may_run_on(job, *home) || comes_to_any_node(draft.state(), job)) return std::nullopt;
  if (draft.free_slots().free_on(home->id) >= static_cast<std::size_t>(job.spec.gpus_per_worker)) return std::nullopt;
  const auto patience = patience_of(job);
  if (!patience) return std::nullopt;
  const Instant ends = job.recovery.waits_near_since.value_or(draft.now()) + *patience;
  if (draft.now() >= ends) return std::nullopt;
  return Finding{
      .reason =
          reason::WaitsForState{
              .step = newest_kept(job)->step, .node = home->id, .left = ends - draft.now(), .redo = *time_to_redo(job)},
      .blocked = {BlockedOn::kSavedState}};
}

std::optional<Instant> state_wait_ends(const Job& job) {
  if (job.state() != JobState::kPending || !job.recovery.waits_near_since) return std::nullopt;
  const auto patience = patience_of(job);
  return patience ? std::optional(*job.recovery.waits_near_since + *patience) : std::nullopt;
}

Reason start_reason(const ClusterState& state, const Job& job, const std::vector<WorkerPlacement>& gang) {
  const auto size = static_cast<int>(gang.size());
  if (!job.last_start_at) return reason::Started{{.size = size}};
  const NodeId home = holder_of_state(state, job);
  const SavedState* kept = newest_kept(job);
  const bool there =
      std::any_of(gang.begin(), gang.end(), [&](const WorkerPlacement& placed) { return placed.node == home; });
  if (!home || there || kept == nullptr || kept->step == 0 || job.spec.resize == ResizeMode::kRestart) {
    return reason::Resumed{{.size = size}};
  }
  if (const auto move = move_for(state, job, gang)) {
    return reason::ResumedByTransfer{{.size = size}, move->from, move->to, move->step};
  }
  return reason::ResumedElsewhere{{.size = size}, home, kept->step, time_to_redo(job).value_or(Duration())};
}

}  // namespace tidepool::core
