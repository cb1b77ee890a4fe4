#include "core/decide/open_slots.hpp"

#include <algorithm>

#include "core/place/placement.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

bool may_hold(const Node& node, const Job& job) {
  return node.takes_workers() && may_run_on(job, node) &&
         node.owners.size() >= static_cast<std::size_t>(job.spec.gpus_per_worker);
}

bool comes_free(const ClusterState& state, const Worker& worker, const IdSet<WorkerId>& leaving) {
  return (leaving.contains(worker.id) && !worker.node_lost) || is_on_its_way_out(*state.find_job(worker.job), worker);
}

OpenSlots::OpenSlots(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving)
    : state_(draft.state()),
      leaving_(leaving),
      each_(waiting.spec.gpus_per_worker),
      needed_(waiting.spec.elastic.sizes.front()) {
  for (const auto& [id, node] : state_.nodes) {
    if (!may_hold(node, waiting) || draft.free_slots().is_closed(id)) continue;
    int open = static_cast<int>(draft.free_slots().free_on(id));
    for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
      if (!*owner || std::find(node.owners.begin(), owner, *owner) != owner) continue;
      const Worker& worker = *state_.find_worker(*owner);
      if (comes_free(state_, worker, leaving)) open += static_cast<int>(worker.slots.size());
    }
    open_.emplace(id, open);
    workers_ += open / each_;
  }
}

void OpenSlots::shift(const Job& job, int sign) {
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state_.find_worker(id);
    const auto open = open_.find(worker.node);
    if (open == open_.end() || worker.node_lost || comes_free(state_, worker, leaving_)) continue;
    workers_ -= open->second / each_;
    open->second += sign * static_cast<int>(worker.slots.size());
    workers_ += open->second / each_;
  }
}

}  // namespace tidepool::core
