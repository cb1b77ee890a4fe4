#include "core/decide/reconcile/room_on_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/state/price_cap.hpp"

namespace tidepool::core {
namespace {

// As drop_unneeded(), where all of them have been released.
void drop_unneeded_on_nodes(std::vector<TargetedJob>& chosen, OpenSlots& open) {
  std::vector<TargetedJob> needed;
  for (std::size_t at = chosen.size(); at-- > 0;) {
    const bool is_newest = at + 1 == chosen.size();
    open.take_back(*chosen[at].job);
    if (!is_newest && open.fits()) continue;
    open.release(*chosen[at].job);
    needed.push_back(chosen[at]);
  }
  chosen.assign(needed.rbegin(), needed.rend());
}

}  // namespace

// By those that hold slots where the job may run, if they are enough; else by workers that move elsewhere, and by both.
TypeRoom RoomOnNodes::make(const Job& claimant) {
  const auto room_now = [&] { return room_of_type(draft_, claimant, draft_.leaving_workers()); };
  TypeRoom room = room_now();
  if (room.coming) return room;
  if (preempt_of(victims_in_way(claimant), claimant)) {
    room = room_now();
    room.coming = true;  // also where victims are asked first
    return room;
  }
  if (room.movers.empty() && displace_for(claimant)) return room_now();
  victims_.note_missed(claimant, [&](const Job& victim) { return victims_.is_in_way(victim, claimant); });
  if (room.movers.empty()) return room;
  const std::uint64_t next_worker = draft_.next_worker();
  const std::size_t leaving = draft_.leaving_workers().size();
  make_room_elsewhere(claimant, move_away(draft_, claimant, room));
  if (draft_.next_worker() == next_worker && draft_.leaving_workers().size() == leaving) return room;
  (void)preempt_of(victims_in_way(claimant), claimant);
  return room_now();
}

bool RoomOnNodes::make_to_grow(const Job& claimant) {
  if (victims_.reservations().workers_of(claimant) >= claimant.spec.elastic.sizes.front()) return true;
  if (preempt_of(victims_in_way(claimant), claimant)) return true;
  victims_.note_missed(claimant, [&](const Job& victim) { return victims_.is_in_way(victim, claimant); });
  return false;
}

bool RoomOnNodes::keep_until_they_may_be(const Job& gang) {
  if (victims_.empty() || !victims_.reservations().nodes_for(gang).empty()) return false;
  const SlotsFor claim{gang, gang.spec.smallest_slots()};
  SlotReservations left = victims_.reservations();
  for (const TargetedJob& each : victims_.all()) {
    const bool may_be = each.job->spec.preemptible && victims_.limits().allow(claim, *each.job);
    if (may_be && !victims_.refused_until(*each.job, claim)) victims_.add_workers(each, left);
  }
  WorkersOn free = left.nodes_for(gang);
  int all = 0;
  for (auto& [node, slots] : free) {
    slots = std::min(slots * gang.spec.gpus_per_worker, static_cast<int>(draft_.free_slots().free_on(node)));
    all += slots;
  }
  if (all > draft_.usable()) return false;
  for (const auto& [node, slots] : free) victims_.reservations().keep(node, slots);
  return !free.empty();
}

// That may be chosen, from the end of the plan's order.
std::vector<TargetedJob> RoomOnNodes::victims_in_way(const Job& claimant) {
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::vector<TargetedJob> in_way;
  victims_.look_at(wanted, Victims::By::kLimits, [&](const TargetedJob& victim) {
    if (victims_.is_in_way(*victim.job, claimant) && victims_.may_be_chosen(*victim.job, wanted, Victims::By::kLimits))
      in_way.push_back(victim);
    return true;
  });
  return in_way;
}

// As few, the first ones first, as make room together with what comes free; false: not even all of them do.
bool RoomOnNodes::preempt_of(const std::vector<TargetedJob>& in_way, const Job& claimant) {
  if (in_way.empty()) return false;
  const IdSet<WorkerId> leaving = draft_.leaving_workers();
  OpenSlots open(draft_, claimant, leaving);
  std::vector<TargetedJob> chosen;
  for (const TargetedJob& each : in_way) {
    chosen.push_back(each);
    open.release(*each.job);
    if (!open.fits()) continue;
    drop_unneeded_on_nodes(chosen, open);
    if (!victims_.is_within_limit(chosen, {claimant, claimant.spec.smallest_slots()}, Victims::By::kLimits))
      return false;
    victims_.take(chosen, {claimant, claimant.spec.smallest_slots()});
    return true;
  }
  return false;
}

// So many slots that movers lack come from victims, or are kept as they come free.
void RoomOnNodes::make_room_elsewhere(const Job& claimant, int lacking) {
  const auto held_by = [&](const std::vector<TargetedJob>& victims) {
    int slots = 0;
    for (const TargetedJob& each : victims) slots += held_elsewhere(*each.job, claimant);
    return slots;
  };
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::vector<TargetedJob> chosen;
  victims_.look_at(wanted, Victims::By::kLimits, [&](const TargetedJob& victim) {
    if (held_by(chosen) >= lacking) return false;
    if (held_elsewhere(*victim.job, claimant) == 0) return true;
    if (!victims_.may_be_chosen(*victim.job, wanted, Victims::By::kLimits)) return true;
    chosen.push_back(victim);
    if (!victims_.is_within_limit(chosen, wanted, Victims::By::kLimits)) chosen.pop_back();
    return true;
  });
  if (held_by(chosen) >= lacking) {
    drop_unneeded(chosen, [&](const std::vector<TargetedJob>& fewer) { return held_by(fewer) >= lacking; });
  } else if (coming_elsewhere(claimant) < lacking && displace_for(claimant)) {
    return;
  } else {
    victims_.note_missed(claimant, [&](const Job& victim) { return held_elsewhere(victim, claimant) > 0; });
  }
  draft_.reserve(lacking);
  keeps_for_movers_ = keeps_for_movers_ || lacking > 0;
  victims_.take(chosen, wanted);
}

int RoomOnNodes::held_elsewhere(const Job& job, const Job& claimant) const {
  int slots = 0;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft_.state().find_worker(id);
    const Node& node = *draft_.state().find_node(worker.node);
    const bool is_of_use = node.takes_workers() && !may_run_on(claimant, node);
    if (is_of_use) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

int RoomOnNodes::coming_elsewhere(const Job& claimant) const {
  int slots = 0;
  for (const auto& [id, worker] : draft_.state().workers) {
    if (draft_.free_slots().is_closed(worker.node)) continue;
    if (!comes_free(draft_.state(), worker, draft_.leaving_workers())) continue;
    if (!may_run_on(claimant, *draft_.state().find_node(worker.node))) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

// From the end of the plan's order. One that asks for particular nodes only if it may be on others than the claimant.
std::vector<TargetedJob> RoomOnNodes::displaced_by(const Job& claimant) {
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::map<NodeDemand, bool> elsewhere;
  const auto may_be_elsewhere = [&](const Job& job) {
    NodeDemand demand = node_demand(job.spec);
    demand.slot_price_max = slot_price_max(job);
    const auto [known, is_first] = elsewhere.try_emplace(std::move(demand));
    if (!is_first) return known->second;
    const auto& nodes = draft_.state().nodes;
    return known->second = std::any_of(nodes.begin(), nodes.end(), [&](const auto& entry) {
             const Node& node = entry.second;
             return node.takes_workers() && may_run_within_cap(job, node) && !may_run_on(claimant, node);
           });
  };
  std::vector<TargetedJob> displaced;
  for (const auto& [id, job] : draft_.state().jobs) {
    const Target* target = draft_.planned_target(*job);
    const bool goes_on = target != nullptr && target->size > 0 && job->requests.pinned_size == 0;
    if (!goes_on || !victims_.is_in_way(*job, claimant) || !can_change(draft_, *job)) continue;
    if (draft_.type_guarantees().asks(*job) && !may_be_elsewhere(*job)) continue;
    if (victims_.may_be_chosen(*job, wanted, Victims::By::kLimits)) displaced.push_back({job.get(), target});
  }
  std::sort(displaced.begin(), displaced.end(), [](const TargetedJob& one, const TargetedJob& other) {
    return std::pair(one.target->place, one.job->id) > std::pair(other.target->place, other.job->id);
  });
  return displaced;
}

// Of these, in order, those without which their tenants still have their guarantees by type, given what leaves.
std::vector<TargetedJob> RoomOnNodes::spared(const std::vector<TargetedJob>& victims,
                                             const std::vector<TargetedJob>& displaced) {
  const TypeGuarantees& guarantees = draft_.type_guarantees();
  IdSet<WorkerId> leaving = draft_.leaving_workers();
  for (const TargetedJob& each : victims) {
    leaving.insert(each.job->membership.workers.begin(), each.job->membership.workers.end());
  }
  TypeGuarantees::Held gone;
  for (const auto& [id, worker] : draft_.state().workers) {
    if (comes_free(draft_.state(), worker, leaving)) guarantees.add_to(gone, worker);
  }
  std::vector<TargetedJob> in_way = victims;
  for (const TargetedJob& each : displaced) {
    if (!guarantees.asks(*each.job) || guarantees.spare(*each.job, gone)) in_way.push_back(each);
  }
  return in_way;
}

// In the plan's order; where small jobs use up what a tenant can spare and are not enough, the largest first.
bool RoomOnNodes::displace_for(const Job& claimant) {
  // As the job is: only what it holds once it has started counts as held of the guarantee.
  const bool asks = draft_.type_guarantees().asks(*draft_.state().find_job(claimant.id));
  if (!asks || !draft_.type_guarantees().cover(claimant, claimant.spec.smallest_slots())) return false;
  const std::vector<TargetedJob> victims = victims_in_way(claimant);
  std::vector<TargetedJob> displaced = displaced_by(claimant);
  if (preempt_of(spared(victims, displaced), claimant)) return true;
  const auto by_size = [](const TargetedJob& each) {
    return std::pair(each.job->size() * each.job->spec.gpus_per_worker, each.job->id);
  };
  std::sort(displaced.begin(), displaced.end(),
            [&](const TargetedJob& one, const TargetedJob& other) { return by_size(one) > by_size(other); });
  return preempt_of(spared(victims, displaced), claimant);
}

}  // namespace tidepool::core
