#include "core/decide/slot_reservations.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/place/arrangement.hpp"
#include "core/place/clearing.hpp"
#include "core/place/slot_claims.hpp"
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

// What a job in line lacks of what the plan gives it, if slots are all that keeps it from having it.
bool lacks_slots_alone(DecisionDraft& draft, const TargetedJob& entry) {
  const Job& job = *entry.job;
  const int size = entry.target->size;
  if (size <= job.size() || draft.alters(job.id)) return false;
  if (job.state() != JobState::kPending) return can_change(draft, job) && !growth_barred(draft, job, size);
  return !waits_for_state(draft, job) && !draft.above_cap(job, job.spec.elastic.sizes.front());
}

// Workers of these jobs that leave without a further decision.
std::vector<WorkerId> on_their_way_out(const ClusterState& state, const IdSet<JobId>& releasing) {
  std::vector<WorkerId> workers;
  for (const JobId id : releasing) {
    const Job& job = *state.find_job(id);
    std::copy_if(job.membership.workers.begin(), job.membership.workers.end(), std::back_inserter(workers),
                 [&](WorkerId worker) { return is_on_its_way_out(job, *state.find_worker(worker)); });
  }
  return workers;
}

std::vector<GivenSlots> given_slots(DecisionDraft& draft, const IdSet<JobId>& releasing) {
  std::vector<GivenSlots> given{{.slots = std::max(0, static_cast<int>(draft.free_slots().free()))}};
  IdSet<WorkerId> counted;
  const auto give = [&](WorkerId id, JobId from, JobId for_job = {}) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool comes = !worker.is_gone() && draft.state().find_node(worker.node)->takes_workers();
    if (!comes || !counted.insert(id)) return;
    const auto slots = static_cast<int>(worker.slots.size());
    given.push_back({.from = from, .node = worker.node, .slots = slots, .for_job = for_job});
  };
  for (const WorkerId worker : on_their_way_out(draft.state(), releasing)) give(worker, {});
  for (const PlannedIntent& planned : draft.plan()) {
    const auto* shrink = std::get_if<ShrinkIntent>(&planned.intent);
    if (shrink == nullptr) continue;
    for (const WorkerId worker : shrink->leaving_workers) give(worker, shrink->job);
  }
  for (const PlannedIntent& planned : draft.plan()) {
    const auto* preempts = std::get_if<PreemptIntent>(&planned.intent);
    if (preempts == nullptr) continue;
    for (const WorkerId worker : draft.state().find_job(preempts->job)->membership.workers) {
      give(worker, {}, preempts->for_job);
    }
  }
  for (const WorkerId worker : draft.leaving_workers()) give(worker, {});
  return given;
}

}  // namespace

void tell_claimants(DecisionDraft& draft, const std::vector<TargetedJob>& line, const IdSet<JobId>& releasing) {
  const Plan& plan = draft.plan();
  const bool shrinks = std::any_of(plan.begin(), plan.end(), [](const PlannedIntent& planned) {
    return std::holds_alternative<ShrinkIntent>(planned.intent);
  });
  if (!shrinks) return;
  std::vector<LackingJob> lacking;
  for (const TargetedJob& entry : line) {
    if (!lacks_slots_alone(draft, entry)) continue;
    const Job& job = *entry.job;
    const bool has_types = draft.free_slots().has_several_types();
    lacking.push_back({.job = &job,
                       .slots = (entry.target->size - job.size()) * job.spec.gpus_per_worker,
                       .type = has_types ? bound_type(draft.state(), job) : std::nullopt});
  }
  if (!lacking.empty()) draft.tell_claimants(claimants_of(draft.state(), given_slots(draft, releasing), lacking));
}

std::vector<TargetedJob> behind_claimants(std::vector<TargetedJob> line) {
  struct Giver {
    const TargetedJob* entry;
    GaveSlots slots;
  };
  std::map<JobId, std::vector<Giver>> givers;  // by claimant, the last in line first
  for (auto entry = line.rbegin(); entry != line.rend(); ++entry) {
    if (entry->target->size <= entry->job->size()) continue;
    for (const GaveSlots& slots : entry->job->preemption.gave_slots) givers[slots.for_job].push_back({&*entry, slots});
  }
  if (givers.empty()) return line;
  std::vector<TargetedJob> from_the_last;
  IdSet<JobId> put;
  const std::function<void(const TargetedJob&)> put_before = [&](const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (!put.insert(job.id)) return;
    const auto found = givers.find(job.id);
    if (found != givers.end() && entry.target->size > job.size()) {
      for (const Giver& giver : found->second) {
        if (still_lacks(job, giver.slots)) put_before(*giver.entry);
      }
    }
    from_the_last.push_back(entry);
  };
  for (auto entry = line.rbegin(); entry != line.rend(); ++entry) put_before(*entry);
  return {from_the_last.rbegin(), from_the_last.rend()};
}

std::optional<JobId> still_owed_by(const DecisionDraft& draft, const Job& job) {
  for (const GaveSlots& slots : job.preemption.gave_slots) {
    const Job* claimant = draft.state().find_job(slots.for_job);
    const Target* target = claimant == nullptr ? nullptr : draft.planned_target(*claimant);
    const bool wants = target != nullptr && target->size > claimant->size() && !draft.changed(claimant->id);
    if (wants && still_lacks(*claimant, slots)) return claimant->id;
  }
  return std::nullopt;
}

SlotClaim claim_of(DecisionDraft& draft, const Job& job, int size) {
  return {.workers = size - job.size(), .slots_each = job.spec.gpus_per_worker, .types = types_claimed_by(draft, job)};
}

bool releases_slots(const ClusterState& state, const Job& job) {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(),
                     [&](WorkerId id) { return is_on_its_way_out(job, *state.find_worker(id)); });
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

// That with most free slots: what comes free beside may be more at the next decision, and the choice stays the same.
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
