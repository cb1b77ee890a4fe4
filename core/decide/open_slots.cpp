#include "core/decide/open_slots.hpp"

#include <algorithm>

#include "core/place/together.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

bool may_hold(DecisionDraft& draft, const Node& node, const Job& job) {
  return node.takes_workers() && !draft.free_slots().is_closed(node.id) && may_run_on(job, node) &&
         node.owners.size() >= static_cast<std::size_t>(job.spec.gpus_per_worker);
}

bool comes_free(const ClusterState& state, const Worker& worker, const IdSet<WorkerId>& leaving) {
  return (leaving.contains(worker.id) && !worker.is_gone()) || is_on_its_way_out(*state.find_job(worker.job), worker);
}

OpenSlots::OpenSlots(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving)
    : state_(draft.state()),
      waiting_(waiting),
      leaving_(leaving),
      each_(waiting.spec.gpus_per_worker),
      needed_(waiting.spec.elastic.sizes.front()),
      has_rule_(has_gang_rule(waiting.spec)),
      stay_(gang_beside_members(draft.state(), waiting, 0).stay) {
  for (const auto& [id, node] : state_.nodes) {
    if (!may_hold(draft, node, waiting)) continue;
    Place place{.open = static_cast<int>(draft.free_slots().free_on(id))};
    int held = 0;
    for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
      if (!*owner || std::find(node.owners.begin(), owner, *owner) != owner) continue;
      const Worker& worker = *state_.find_worker(*owner);
      const int slots = static_cast<int>(worker.slots.size());
      held += slots;
      (comes_free(state_, worker, leaving) ? place.open : place.staying) += slots;
    }
    if (draft.free_slots().is_kept(id)) {
      const int taken = draft.free_slots().taken_on(id);
      place.staying += taken;
      place.kept = static_cast<int>(node.owners.size()) - held - taken;
    }
    workers_ += workers_on(place);
    places_.emplace(id, place);
  }
}

int OpenSlots::workers_by_rule() const {
  std::vector<RoomOnNode> rooms;
  for (const auto& [id, place] : places_) {
    const bool is_whole = place.all_open() == static_cast<int>(state_.find_node(id)->owners.size());
    if (waiting_.spec.placement.exclusive && !is_whole) continue;
    rooms.push_back({.node = id, .workers = workers_on(place)});
  }
  return workers_by_rules(state_, waiting_.spec, rooms, stay_);
}

void OpenSlots::shift(const Job& job, int sign) {
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state_.find_worker(id);
    const auto found = places_.find(worker.node);
    if (found == places_.end() || worker.is_gone() || comes_free(state_, worker, leaving_)) continue;
    Place& place = found->second;
    workers_ -= workers_on(place);
    place.open += sign * static_cast<int>(worker.slots.size());
    place.staying -= sign * static_cast<int>(worker.slots.size());
    workers_ += workers_on(place);
  }
}

}  // namespace tidepool::core
