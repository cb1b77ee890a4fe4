#include "core/decide/reconcile/node_claims.hpp"

#include <algorithm>
#include <utility>

#include "core/decide/open_slots.hpp"
#include "core/decide/reconcile/node_clearing.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/start_job.hpp"
#include "core/place/domain_wait.hpp"
#include "core/place/together.hpp"
#include "core/state/measured/type_records.hpp"

namespace tidepool::core {

void NodeClaims::take_choosy(const TargetedJob& entry) {
  const Job& job = *entry.job;
  if (job.state() != JobState::kPending) return grow_choosy(entry, job);
  // Behind one that asks for the same it finds every node closed.
  if (closed_for_.contains(node_demand(job.spec))) return leave_behind(entry);
  if (!start_job(draft_, job, *entry.target)) wait_choosy(entry, job);
}

// It waits for slots of the nodes for which it claims to ask, and other jobs move away for it; slots of other nodes
// go to those behind it.
void NodeClaims::wait_choosy(const TargetedJob& entry, const Job& asks) {
  const Job& job = *entry.job;
  const std::optional<WaitsAt> at = find_place(asks);
  if (!at) return leave_closed(entry);
  if (!at->comes() && waits_for_nodes(entry)) return;
  if (!at->room.coming) draft_.set_unsettled();
  pending_.leave(entry, told_of(job, at->room, at->lacks));
  if (at->comes() || !keep_until_preemption(asks)) wait_at(job, *at);
}

// Makes jobs release slots for its growth, and reserves them until it grows.
void NodeClaims::grow_choosy(const TargetedJob& entry, const Job& claimant) {
  const Job& job = *entry.job;
  const int more = entry.target->size - job.size();
  if (rule_ == LineRule::kReserves && more > 0 && victims_.frees_slots()) {
    Job asks = claimant;
    asks.spec.elastic.sizes = {more};
    if (const auto type = bound_type(draft_.state(), job)) asks.spec.slot_types = {*type};
    const bool is_open = !closed_for_.contains(node_demand(asks.spec));
    GangRequest gang = gang_beside_members(draft_.state(), asks, more);
    gang.one_type = !asks.spec.mixed_types;
    if (is_open && draft_.free_slots().room_for(gang) < more && room_.make_to_grow(asks)) {
      (void)victims_.reservations().keep_for(asks, more);
      victims_.limits().keep_for({job, more * job.spec.gpus_per_worker});
    }
  }
  plan_size(draft_, job, *entry.target);
}

void NodeClaims::take_by_rules(const TargetedJob& entry) {
  const Job& job = *entry.job;
  const bool starts = job.state() == JobState::kPending;
  // What is free on the nodes that an exclusive job has to itself is no room that others leave.
  if (!starts && job.spec.placement.exclusive) return plan_size(draft_, job, *entry.target);
  if (!starts) return grow_choosy(entry, job);
  if (!start_job(draft_, job, *entry.target)) wait_by_rules(entry, job);
}

void NodeClaims::wait_by_rules(const TargetedJob& entry, const Job& asks) {
  const Job& job = *entry.job;
  draft_.set_unsettled();
  const Reason lacks = waits_by_rules(draft_.state(), draft_.free_slots(), job);
  if (const std::optional<WaitsAt> at = find_place(asks)) {
    if (!at->comes() && waits_for_nodes(entry)) return;
    if (is_in_one_domain(job.spec)) {
      wait_at(job, *at);
    } else if (rule_ == LineRule::kReserves) {
      keep_room(at->asks);
    }
  }
  pending_.leave(entry, lacks);
}

// Where it will have room, once what leaves is gone; else what room it finds now.
void NodeClaims::keep_room(const Job& job) {
  const int smallest = job.spec.elastic.sizes.front();
  if (!victims_.reservations().keep_for(job, smallest)) draft_.free_slots().hold_for(job, smallest);
}

void NodeClaims::take_within_cap(const TargetedJob& entry) {
  const Job& job = *entry.job;
  const bool starts = job.state() == JobState::kPending;
  const int more = starts ? job.spec.elastic.sizes.front() : entry.target->size - job.size();
  const NodeDemand demand = draft_.demand_within_cap(job, more);
  if (starts && capped_starts_.start(draft_, job, *entry.target, demand)) return;
  if (starts && !has_gang_rule(job.spec) && closed_for_.contains(demand)) return leave_closed(entry);
  const auto asks = rule_ == LineRule::kReserves ? draft_.asking_within_cap(job, demand, more) : std::nullopt;
  // What is free on the nodes that an exclusive job has to itself is no room that others leave.
  if (!starts && (!asks || job.spec.placement.exclusive)) return plan_size(draft_, job, *entry.target);
  if (!starts) return grow_choosy(entry, *asks);
  if (!asks) return pending_.leave(entry, lacks_slots(draft_, job));
  has_gang_rule(job.spec) ? wait_by_rules(entry, *asks) : wait_choosy(entry, *asks);
}

bool NodeClaims::keep_until_preemption(const Job& job) {
  const bool is_wide = job.spec.gpus_per_worker > 1;
  return rule_ == LineRule::kReserves && is_wide && room_.keep_until_they_may_be(job);
}

bool NodeClaims::waits_for_nodes(const TargetedJob& entry) {
  const Job& job = *entry.job;
  // A rule's target no longer exists when this is recorded, and its jobs follow no plan.
  if (rule_ != LineRule::kReserves) return false;
  auto found = clear_nodes_for(draft_, job, victims_.reservations(), victims_.limits());
  if (!found) return false;
  pending_.add({&job, *std::move(found), entry.target});
  return true;
}

// Of the places at which it may wait that at which room comes; else the first at which others make room now, or are
// going to, or the first of all. None: all are closed.
std::optional<NodeClaims::WaitsAt> NodeClaims::find_place(const Job& job) {
  if (closed_for_.contains(node_demand(job.spec)) || is_closed_for(job)) {
    closed_for_.insert(node_demand(job.spec));
    return std::nullopt;
  }
  std::vector<WaitsAt> places;
  for (const WaitPlace& place : places_to_wait_for(draft_.state(), draft_.free_slots(), job, draft_.now())) {
    Job asks = bound_to(draft_.state(), job, place);
    const reason::WaitingForSlots lacks = lacks_slots(draft_, asks);
    places.push_back({.asks = std::move(asks), .room = {}, .lacks = lacks});
  }
  if (places.empty()) return std::nullopt;
  auto best = std::find_if(places.begin(), places.end(), [&](const WaitsAt& at) {
    return victims_.reservations().workers_of(at.asks) >= job.spec.elastic.sizes.front();
  });
  if (best == places.end()) return std::move(*make_room_at(places));
  best->room.coming = true;
  return std::move(*best);
}

std::vector<NodeClaims::WaitsAt>::iterator NodeClaims::make_room_at(std::vector<WaitsAt>& places) {
  const auto made = [&] { return std::pair(draft_.next_worker(), draft_.leaving_workers().size()); };
  const auto before = made();
  for (auto at = places.begin(); at != places.end(); ++at) {
    at->room = room_.make(at->asks);
    if (at->room.coming || made() != before) return at;
  }
  const auto moves = std::find_if(places.begin(), places.end(), [](const WaitsAt& at) { return at.comes(); });
  return moves == places.end() ? places.begin() : moves;
}

void NodeClaims::leave_closed(const TargetedJob& entry) {
  if (is_choosy(entry.job->spec)) draft_.set_unsettled();
  leave_behind(entry);
}

void NodeClaims::leave_behind(const TargetedJob& entry) {
  pending_.leave(entry, told_of(*entry.job, {}, {.needed = entry.job->spec.smallest_slots()}));
}

// Of one that asks for any nodes, and for these because of its cap, no more than what it lacks.
Reason NodeClaims::told_of(const Job& job, const TypeRoom& room, const reason::WaitingForSlots& lacks) const {
  return is_choosy(job.spec) ? reason_with_room(draft_, room, job, lacks) : Reason(lacks);
}

// No node on which the job may run is open.
bool NodeClaims::is_closed_for(const Job& job) const {
  const auto& nodes = draft_.state().nodes;
  return std::none_of(nodes.begin(), nodes.end(),
                      [&](const auto& entry) { return may_hold(draft_, entry.second, job); });
}

// What comes free there is no other job's.
void NodeClaims::wait_at(const Job& job, const WaitsAt& at) {
  if (rule_ != LineRule::kReserves && !at.comes()) return;  // those behind it may pass
  if (at.comes()) victims_.limits().keep_for({job, job.spec.smallest_slots()});
  draft_.free_slots().close_for(at.asks);
  victims_.close_for(at.asks);
}

}  // namespace tidepool::core
