#include "core/decide/slot_reservations.hpp"

#include <algorithm>
#include <utility>

#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

bool leaves(const Job& job, const Worker& worker) {
  if (worker.node_lost) return false;
  if (worker.phase == WorkerPhase::kLeaving || worker.kill_at) return true;
  return job.phase.transition() && contains(job.phase.transition()->leaving_workers, worker.id);
}

}  // namespace

bool releases_slots(const ClusterState& state, const Job& job) {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(),
                     [&](WorkerId id) { return leaves(job, *state.find_worker(id)); });
}

SlotReservations::SlotReservations(DecisionDraft& draft, const IdSet<JobId>& releasing) : draft_(draft) {
  IdSet<WorkerId> leaving = draft.leaving_workers();
  for (const JobId id : releasing) {
    const Job& job = *draft.state().find_job(id);
    for (const WorkerId worker : job.membership.workers) {
      if (leaves(job, *draft.state().find_worker(worker))) leaving.insert(worker);
    }
  }
  for (const WorkerId id : leaving) add(*draft.state().find_worker(id));
}

void SlotReservations::add(const Worker& worker) {
  if (!counted_.insert(worker.id)) return;
  const Node& node = *draft_.state().find_node(worker.node);
  if (node.state != NodeState::kUp || node.cordoned || draft_.free_slots().is_closed(node.id)) return;
  coming_[worker.node] += static_cast<int>(worker.slots.size());
  all_coming_ += static_cast<int>(worker.slots.size());
}

void SlotReservations::close(const std::vector<std::string>& slot_types) {
  for (auto& [id, slots] : coming_) {
    if (is_of_type(*draft_.state().find_node(id), slot_types)) all_coming_ -= std::exchange(slots, 0);
  }
}

int SlotReservations::left_over(const SlotClaim& claim) const {
  return static_cast<int>(draft_.free_slots().free()) + all_coming_ - reserved_ - claim.slots();
}

bool SlotReservations::fits(const SlotClaim& claim) const {
  if (claim.slots_each == 1) return left_over(claim) >= 0;
  // Nothing is reserved before a gang that needs several slots of a node, and no job behind it takes slots.
  int workers = 0;
  for (const auto& [id, node] : draft_.state().nodes) workers += room_on(id) / claim.slots_each;
  return workers >= claim.workers;
}

bool SlotReservations::reserve(const SlotClaim& claim) {
  if (!fits(claim)) return false;
  if (claim.slots_each == 1) reserved_ += claim.workers;
  return true;
}

int SlotReservations::room_on(NodeId node) const {
  const auto coming = coming_.find(node);
  return static_cast<int>(draft_.free_slots().free_on(node)) + (coming == coming_.end() ? 0 : coming->second);
}

}  // namespace tidepool::core
