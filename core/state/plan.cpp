#include "core/state/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void sort_best_first(std::vector<Alternative>& alternatives) {
  std::sort(alternatives.begin(), alternatives.end(), [](const Alternative& one, const Alternative& other) {
    return std::pair(-one.score, one.size) < std::pair(-other.score, other.size);
  });
}

JobId job_of(const Intent& intent) {
  return std::visit([](const auto& any) { return any.job; }, intent);
}

WorkerId straggler_of(const Intent& intent) {
  if (const auto* shrink = std::get_if<ShrinkIntent>(&intent)) return shrink->straggler;
  if (const auto* replace = std::get_if<ReplaceIntent>(&intent)) {
    return replace->cause == ReplaceCause::kStraggler ? replace->leaving_worker : WorkerId();
  }
  if (const auto* move = std::get_if<MoveIntent>(&intent)) {
    return move->cause == ReplaceCause::kStraggler ? move->leaving_workers.front() : WorkerId();
  }
  const auto* shares = std::get_if<RebalanceIntent>(&intent);
  return shares != nullptr && !shares->regains ? shares->worker : WorkerId();
}

std::string_view name_of(const Intent& intent) {
  return std::visit(Overloaded{
                        [](const StartIntent&) { return "start"; },
                        [](const GrowIntent&) { return "grow"; },
                        [](const ShrinkIntent&) { return "shrink"; },
                        [](const ReplaceIntent&) { return "replace"; },
                        [](const MoveIntent&) { return "move"; },
                        [](const RebalanceIntent&) { return "rebalance"; },
                        [](const SwitchIntent&) { return "switch"; },
                        [](const LaunchIntent&) { return "launch"; },
                        [](const PreemptIntent&) { return "preempt"; },
                        [](const AskIntent&) { return "ask_to_leave"; },
                        [](const StopWorkerIntent&) { return "stop_worker"; },
                        [](const ProbeIntent&) { return "probe_node"; },
                        [](const EndJobIntent&) { return "end_job"; },
                    },
                    intent);
}

std::span<const WorkerPlacement> joining_workers_of(const Intent& intent) {
  using Workers = std::span<const WorkerPlacement>;
  return std::visit(Overloaded{[](const StartIntent& any) -> Workers { return any.joining_workers; },
                               [](const GrowIntent& any) -> Workers { return any.joining_workers; },
                               [](const MoveIntent& any) -> Workers { return any.joining_workers; },
                               [](const ReplaceIntent& any) -> Workers { return {&any.joining_worker, 1}; },
                               [](const auto&) -> Workers { return {}; }},
                    intent);
}

std::vector<WorkerId> workers_freed_by(const ClusterState& state, const Intent& intent) {
  using Workers = std::vector<WorkerId>;
  return std::visit(Overloaded{[](const ShrinkIntent& any) { return any.leaving_workers; },
                               [](const MoveIntent& any) { return any.leaving_workers; },
                               [](const ReplaceIntent& any) { return Workers{any.leaving_worker}; },
                               [](const StopWorkerIntent& any) { return Workers{any.worker}; },
                               [&](const PreemptIntent& any) { return state.find_job(any.job)->membership.workers; },
                               [](const auto&) { return Workers{}; }},
                    intent);
}

std::string_view name_of(const NodeIntent& intent) {
  return std::visit(Overloaded{
                        [](const CreateNodeIntent&) { return "create_node"; },
                        [](const EmptyNodeIntent&) { return "empty_node"; },
                        [](const ReleaseNodeIntent&) { return "release_node"; },
                    },
                    intent);
}

const std::string& node_name_of(const NodeIntent& intent) {
  return std::visit([](const auto& any) -> const std::string& { return any.name; }, intent);
}

}  // namespace tidepool::core
