#include "core/decide/slot_reservations.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "core/decide/open_slots.hpp"
#include "core/place/arrangement.hpp"
#include "core/place/clearing.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// Where all its workers have to be on slots of one type and there are several: those that it may be on.
std::optional<std::vector<std::string>> types_claimed_by(DecisionDraft& draft, const Job& job) {
  const FreeSlots& slots = draft.free_slots();
  if (job.spec.mixed_types || !slots.has_several_types()) return std::nullopt;
  if (const auto bound = bound_type(draft.state(), job)) return std::vector<std::string>{*bound};
  return std::vector<std::string>(slots.types().begin(), slots.types().end());
}

}  // namespace

SlotClaim claim_of(DecisionDraft& draft, const Job& job, int size) {
  return {.workers = size - job.size(), .slots_each = job.spec.gpus_per_worker, .types = types_claimed_by(draft, job)};
}

bool releases_slots(const ClusterState& state, const Job& job) {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(),
                     [&](WorkerId id) { return is_on_its_way_out(job, *state.find_worker(id)); });
}

std::vector<WorkerId> on_their_way_out(const ClusterState& state, const IdSet<JobId>& releasing) {
  std::vector<WorkerId> workers;
  for (const JobId id : releasing) {
    const Job& job = *state.find_job(id);
    std::copy_if(job.membership.workers.begin(), job.membership.workers.end(), std::back_inserter(workers),
                 [&](WorkerId worker) { return is_on_its_way_out(job, *state.find_worker(worker)); });
  }
  return workers;
}

SlotReservations::SlotReservations(DecisionDraft& draft, const IdSet<JobId>& releasing) : draft_(draft) {
  IdSet<WorkerId> leaving = draft.leaving_workers();
  for (const WorkerId worker : on_their_way_out(draft.state(), releasing)) leaving.insert(worker);
  for (const WorkerId id : leaving) add(*draft.state().find_worker(id));
}

bool SlotReservations::counts(const Worker& worker) const {
  if (worker.is_gone() || counted_.contains(worker.id)) return false;
  return draft_.state().find_node(worker.node)->takes_workers() && !draft_.free_slots().is_closed(worker.node);
}

void SlotReservations::add(const Worker& worker) {
  const bool is_of_use = counts(worker);
  if (!worker.is_gone()) counted_.insert(worker.id);
  if (!is_of_use) return;
  const Node& node = *draft_.state().find_node(worker.node);
  const int slots = static_cast<int>(worker.slots.size()) + freed_with_the_last(node);
  coming_[worker.node] += slots;
  all_coming_ += slots;
  coming_of_[node.slot_type] += slots;
}

// Of a node that an exclusive job leaves: what is free there already.
int SlotReservations::freed_with_the_last(const Node& node) const {
  if (!draft_.free_slots().is_kept(node.id) || draft_.free_slots().taken_on(node.id) > 0) return 0;
  int free = 0;
  for (const WorkerId owner : node.owners) {
    if (owner && !counted_.contains(owner)) return 0;
    free += owner ? 0 : 1;
  }
  return free;
}

void SlotReservations::close(const std::vector<std::string>& slot_types) {
  close_where([&](const Node& node) {
    return std::find(slot_types.begin(), slot_types.end(), node.slot_type) != slot_types.end();
  });
}

void SlotReservations::close_for(const Job& job) {
  close_where([&](const Node& node) { return may_run_on(job, node); });
}

void SlotReservations::close_where(const std::function<bool(const Node&)>& is_closed) {
  for (auto& [id, slots] : coming_) {
    const Node& node = *draft_.state().find_node(id);
    if (!is_closed(node)) continue;
    coming_of_[node.slot_type] -= slots;
    all_coming_ -= std::exchange(slots, 0);
  }
}

int SlotReservations::left_over(const SlotClaim& claim) const {
  return static_cast<int>(draft_.free_slots().free()) + all_coming_ - reserved_ - claim.slots();
}

int SlotReservations::workers_on(const std::string& type, const SlotClaim& claim) const {
  const auto of_type = [&](const std::map<std::string, int>& slots) {
    const auto found = slots.find(type);
    return found == slots.end() ? 0 : found->second;
  };
  if (claim.slots_each == 1) {
    return draft_.free_slots().free_of_type(type) + of_type(coming_of_) - of_type(reserved_of_);
  }
  int workers = 0;
  for (const auto& [id, node] : draft_.state().nodes) {
    if (node.slot_type == type) workers += room_on(id) / claim.slots_each;
  }
  return workers;
}

std::vector<RoomOnNode> SlotReservations::rooms_for(const Job& job) const {
  std::vector<RoomOnNode> rooms;
  for (const auto& [id, node] : draft_.state().nodes) {
    if (!may_hold(draft_, node, job)) continue;
    const bool is_whole = room_on(id) == static_cast<int>(node.owners.size());
    const int room = job.spec.placement.exclusive && !is_whole ? 0 : room_on(id);
    rooms.push_back({.node = id, .workers = room / job.spec.gpus_per_worker});
  }
  return rooms;
}

int SlotReservations::workers_of(const Job& job) const {
  const std::vector<NodeId> stay = gang_beside_members(draft_.state(), job, 0).stay;
  return workers_by_rules(draft_.state(), job.spec, rooms_for(job), stay);
}

bool SlotReservations::keep_for(const Job& job, int workers) {
  const auto nodes = arrange({.state = draft_.state(),
                              .spec = job.spec,
                              .rooms = rooms_for(job),
                              .stay = gang_beside_members(draft_.state(), job, workers).stay,
                              .workers = workers});
  if (!nodes) return false;
  std::map<NodeId, int> slots;
  for (const NodeId node : *nodes) slots[node] += job.spec.gpus_per_worker;
  for (const auto& [node, needed] : slots) keep(node, job.spec.placement.exclusive ? room_on(node) : needed);
  return true;
}

// The type with most free slots, not counting released ones, so that the choice stays the same at the next decision.
std::optional<std::string> SlotReservations::type_with_room(const SlotClaim& claim) const {
  std::optional<std::string> best;
  const FreeSlots& slots = draft_.free_slots();
  for (const std::string& type : *claim.types) {
    if (workers_on(type, claim) < claim.workers) continue;
    if (!best || slots.free_of_type(type) > slots.free_of_type(*best)) best = type;
  }
  return best;
}

bool SlotReservations::fits(const SlotClaim& claim) const {
  if (claim.types) return type_with_room(claim).has_value();
  if (claim.slots_each == 1) return left_over(claim) >= 0;
  // Nothing is reserved before a gang that needs several slots of a node, and no job behind it takes slots where it
  // waits.
  int workers = 0;
  for (const auto& [id, node] : draft_.state().nodes) workers += room_on(id) / claim.slots_each;
  return workers >= claim.workers;
}

bool SlotReservations::reserve(SlotClaim& claim) {
  if (!fits(claim)) return false;
  if (claim.types) {
    claim.type_reserved = *type_with_room(claim);
    if (claim.slots_each == 1) reserved_of_[claim.type_reserved] += claim.workers;
  }
  if (claim.slots_each == 1) reserved_ += claim.workers;
  return true;
}

void SlotReservations::release(const SlotClaim& claim) {
  if (claim.types) reserved_of_[claim.type_reserved] -= claim.workers;
  reserved_ -= claim.workers;
}

int SlotReservations::coming_for(const SlotClaim& claim) const {
  if (!claim.types) return all_coming_;
  const auto coming = coming_of_.find(claim.type_reserved);
  return coming == coming_of_.end() ? 0 : coming->second;
}

void SlotReservations::keep(NodeId node, int slots) {
  const int now = std::min(slots, static_cast<int>(draft_.free_slots().free_on(node)));
  std::uint64_t no_worker = 0;
  if (now > 0) (void)draft_.free_slots().take_on({{node, 1}}, now, no_worker);
  if (slots == now) return;
  const auto coming = coming_.find(node);
  TP_CHECK(coming != coming_.end() && coming->second >= slots - now, "what is kept is free or comes free");
  coming->second -= slots - now;
  all_coming_ -= slots - now;
  coming_of_[draft_.state().find_node(node)->slot_type] -= slots - now;
}

// `type`: of slots; null = any.
WorkersOn SlotReservations::nodes_of_type(const Job& gang, const std::string* type) const {
  SlotsOn open;
  SlotsOn free;
  for (const auto& [id, node] : draft_.state().nodes) {
    if (!may_hold(draft_, node, gang) || (type != nullptr && node.slot_type != *type)) continue;
    open[id] = room_on(id);
    free[id] = static_cast<int>(draft_.free_slots().free_on(id));
  }
  const GangSize size{.workers = gang.spec.elastic.sizes.front(), .slots_each = gang.spec.gpus_per_worker};
  WorkersOn nodes = nodes_kept_for(open, free, size);
  int workers = 0;
  for (const auto& [node, on_it] : nodes) workers += on_it;
  return workers < size.workers ? WorkersOn{} : nodes;
}

WorkersOn SlotReservations::nodes_for(const Job& gang) const {
  if (gang.spec.mixed_types || !draft_.free_slots().has_several_types()) return nodes_of_type(gang, nullptr);
  for (const std::string& type : draft_.free_slots().types()) {
    WorkersOn nodes = nodes_of_type(gang, &type);
    if (!nodes.empty()) return nodes;
  }
  return {};
}

int SlotReservations::room_on(NodeId node) const {
  const auto coming = coming_.find(node);
  return static_cast<int>(draft_.free_slots().free_on(node)) + (coming == coming_.end() ? 0 : coming->second);
}

}  // namespace tidepool::core
