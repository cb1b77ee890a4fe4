#include "core/decide/reconciler.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/decide/cluster_planner.hpp"
#include "core/decide/drain_planner.hpp"
#include "core/decide/node_clearing.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/preemption.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/start_job.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/place/domain_wait.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/together.hpp"
#include "core/state/measured/type_records.hpp"

namespace tidepool::core {
namespace {

// A job that could not start, with what it lacks if that is room alone.
struct Waiting {
  const Job* job;
  Finding lacks;
  const Target* target;  // a plan's, which is told with it; null = nothing
};

// A claim without room, while preemption is limited.
struct HeldUp {
  const Job* job;
  SlotClaim claim;
};

// Room that is kept for a job in line until it is its turn.
struct KeptRoom {
  SlotClaim claim;
  int free_slots = 0;  // of it, as many do not come
};

class Reconciler {
 public:
  Reconciler(DecisionDraft& draft, const IdSet<JobId>& releasing)
      : draft_(draft), rule_(draft.default_policy().line_rule()), preemption_(draft, releasing) {}

  // Shrinks at once; a job to which the plan gives nothing may be preempted later.
  void shrink_over_target(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const int size = entry.target->size;
    if (job.state() == JobState::kPending || size > job.size() || !can_change(draft_, job)) return;
    if (size == 0) return preemption_.add(entry);
    plan_size(draft_, job, *entry.target);
  }

  // Room for a job for which others were preempted and that has not started since: those before it in line, which the
  // limits on preemption may hold up, do not take it.
  void keep_room(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const bool claims =
        job.preemption.room_made && job.spec.gpus_per_worker == 1 && !is_choosy(job.spec) && !has_gang_rule(job.spec);
    if (!claims || entry.target->size <= job.size()) return;
    if (draft_.may_be_above_cap(job, entry.target->size - job.size())) return;  // it claims nodes
    SlotReservations& reservations = preemption_.reservations();
    KeptRoom room{.claim = claim_of(draft_, job, entry.target->size)};
    if (!reservations.reserve(room.claim)) {
      room.claim.workers = preemption_.covered_workers(job, room.claim);
      if (room.claim.workers == 0 || !reservations.reserve(room.claim)) return;
    }
    room.free_slots = std::max(0, room.claim.slots() - coming_beside_kept(room.claim));
    draft_.reserve(room.free_slots);
    kept_rooms_.emplace(job.id, std::move(room));
  }

  // What a job of the plan is to have more.
  void allocate(const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (const auto kept = kept_rooms_.find(job.id); kept != kept_rooms_.end()) {
      preemption_.reservations().release(kept->second.claim);
      draft_.reserve(-kept->second.free_slots);
    }
    if (entry.target->size <= job.size()) return;
    if (job.state() == JobState::kPending) return start(entry);
    if (can_change(draft_, job)) serve(entry);
  }

  // A job that waits by a rule. What it should have is asked only if it can start at all.
  void allocate_waiting(const Job& job) {
    if (never_starts(job) || is_behind(job) || is_too_dear(job)) return;
    const Target target = draft_.unplanned_target(job);
    // A job that the policy holds back lets the ones behind it pass, whether there is room or not.
    if (target.size == 0) return draft_.find(job, target.reason, &target);
    start({&job, &target});
  }

  // So many jobs that come next in line go on waiting, for the reasons that they already have.
  void pass_by(std::size_t jobs) { waiting_ += static_cast<int>(jobs); }

  // No job behind may start.
  [[nodiscard]] bool is_blocked() const { return rule_ == LineRule::kStrict && waiting_ > 0; }

  void order_victims() { preemption_.spare_unsaved(); }

  void keep_running() { preemption_.keep_the_others(); }

  // Once all slots are handed out: which jobs did not start, and why. Only now it is known which lack room at their
  // state.
  void record_pending_reasons() {
    tell_held_up();
    for (const auto& [job, lacks, target] : left_) {
      const auto held = waits_for_state(draft_, *job);
      const Finding& why = held ? *held : lacks;
      if (!DecisionDraft::is_said(*job, why.reason, why.blocked)) draft_.find(*job, why, target);
    }
  }

  [[nodiscard]] bool is_waited() const {
    if (rule_ == LineRule::kReserves) return reserves_ || preemption_.keeps_for_movers();
    return !left_.empty() || waiting_ > 0;
  }

 private:
  // Slots that come free for the claim and that no room kept before counts on.
  int coming_beside_kept(const SlotClaim& claim) {
    int coming = preemption_.reservations().coming_for(claim);
    for (const auto& [job, kept] : kept_rooms_) {
      const bool is_same = !claim.types || !kept.claim.types || kept.claim.type_reserved == claim.type_reserved;
      if (is_same) coming -= kept.claim.slots() - kept.free_slots;
    }
    return std::max(0, coming);
  }

  bool never_starts(const Job& job) {
    const int capacity = draft_.capacity(job);
    if (capacity >= job.spec.elastic.sizes.front()) return false;
    if (draft_.state().slots_total() == 0) {
      draft_.find(job, reason::NoNodes{});
      return true;
    }
    const int cluster = capacity * job.spec.gpus_per_worker;
    const Reason never = never_fits(draft_.state(), job, cluster, !job.spec.slot_types.empty());
    draft_.find(job, Finding{never, {BlockedOn::kClusterSize}});
    return true;
  }

  bool is_behind(const Job& job) {
    if (!is_blocked()) return false;
    const int free = draft_.free_slots().free_for(job);
    const reason::BehindOlderJob behind{.ahead = waiting_++, .needed = job.spec.smallest_slots(), .free = free};
    draft_.find(job, Finding{behind, {BlockedOn::kQueue}});
    return true;
  }

  // A job for which too few slots are cheap enough waits without holding up the ones behind it.
  bool is_too_dear(const Job& job) {
    auto reason = draft_.above_cap(job, job.spec.elastic.sizes.front());
    if (!reason) reason = draft_.never_within_cap(job);
    if (reason) draft_.find(job, *reason);
    return reason.has_value();
  }

  void start(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const auto held = waits_for_state(draft_, job);
    if (!held) return serve(entry);
    // Its state lies on a node without room: it holds up no other job, others may have room that does not help it.
    if (rule_ == LineRule::kReserves) return draft_.find(job, *held, entry.target);
    left_.push_back({&job, *held, nullptr});
  }

  void serve(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const bool starts = job.state() == JobState::kPending;
    const bool barred = !starts && growth_barred(draft_, job, entry.target->size);
    if (starts && is_too_dear(job)) return;
    if (starts && is_cleared_for(job) && (start_job(draft_, job, *entry.target) || waits_for_nodes(entry))) return;
    if (barred) return take(entry);
    if (draft_.may_be_above_cap(job, entry.target->size - job.size())) return take_within_cap(entry);
    if (has_gang_rule(job.spec)) return take_by_rules(entry);
    if (is_choosy(job.spec)) return take_choosy(entry);
    if (rule_ != LineRule::kReserves) return take(entry);
    SlotClaim claim = claim_of(draft_, job, entry.target->size);
    if (may_take(claim) && fits_now(claim)) {
      take(entry);
      if (draft_.changed(job.id) || !starts) return;
    }
    if (may_take(claim) && !preemption_.reservations().reserve(claim) && !make_room(job, claim)) {
      starts ? start_or_clear(entry) : take(entry);
      if (!draft_.alters(job.id) && !preemption_.limits().none()) held_up_.push_back({&job, claim});
      return;
    }
    reserve(claim);
    preemption_.limits().keep_for({job, claim.slots()});
    if (starts && claim.types) return leave(entry, lacks_slots(job));  // on another type it would start smaller
    take(entry);                                                       // nothing is left to take: this says why
  }

  // It claims as one that asks for the nodes within its cap: no job waits, moves or is preempted for one that dearer
  // nodes do not suit.
  void take_within_cap(const TargetedJob& entry) {
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
    if (!asks) return leave(entry, lacks_slots(job));
    has_gang_rule(job.spec) ? wait_by_rules(entry, *asks) : wait_choosy(entry, *asks);
  }

  // By preemption. Where the limits on that hold it up, at least for what a guarantee covers, which `claim` is then.
  bool make_room(const Job& job, SlotClaim& claim) {
    if (!preemption_.make_room(job, claim)) {
      if (preemption_.limits().none()) return false;
      SlotClaim part = claim;
      part.workers = preemption_.covered_workers(job, claim);
      if (part.workers == 0 || fits_now(part) || !preemption_.is_held_up(job, claim)) return false;
      if (!preemption_.reservations().reserve(part) && !preemption_.make_room(job, part)) return false;
      claim = part;
    }
    serve_held_up();
    return true;
  }

  // Jobs before it that the limits hold up have what its victims leave over, as they come before it in line.
  void serve_held_up() {
    for (HeldUp& each : std::exchange(held_up_, {})) {
      if (may_take(each.claim) && !preemption_.reservations().reserve(each.claim)) {
        held_up_.push_back(std::move(each));
        continue;
      }
      reserve(each.claim);
      preemption_.limits().keep_for({*each.job, each.claim.slots()});
    }
  }

  // Behind a gang of several slots that waits, all wait; such a gang waits behind every job that does.
  [[nodiscard]] bool may_take(const SlotClaim& claim) const {
    return !gang_waits_ && !(is_waited() && claim.slots_each > 1);
  }

  [[nodiscard]] bool fits_now(const SlotClaim& claim) {
    const GangRequest gang{.slots_per_worker = claim.slots_each,
                           .slot_types = claim.types.value_or(std::vector<std::string>{}),
                           .one_type = claim.types.has_value()};
    return draft_.usable() >= claim.slots() && draft_.free_slots().room_for(gang) >= claim.workers;
  }

  void reserve(const SlotClaim& claim) {
    reserves_ = true;
    if (claim.types && (claim.slots_each == 1 || !claim.type_reserved.empty())) {
      // Slots of other types are of no use to it; those behind it may have them. Where none of its type is free, there
      // is none to keep for single slots: what comes free is counted, and those behind may make room for themselves.
      const std::vector<std::string> kept{claim.type_reserved};
      if (claim.slots_each == 1 && draft_.free_slots().free_of_type(kept.front()) == 0) return;
      draft_.free_slots().close(kept);
      preemption_.close(kept);
      return;
    }
    gang_waits_ = gang_waits_ || claim.slots_each > 1;
    draft_.reserve(gang_waits_ ? draft_.free_slots().free() : claim.slots());
  }

  // Starts or grows as far as slots allow that are reserved for no other; otherwise notes what is missing.
  void take(const TargetedJob& entry) {
    if (entry.job->state() != JobState::kPending) return plan_size(draft_, *entry.job, *entry.target);
    if (!start_job(draft_, *entry.job, *entry.target)) leave(entry, lacks_slots(*entry.job));
  }

  void leave(const TargetedJob& entry, const Reason& lacks) {
    ++waiting_;
    const Target* told = rule_ == LineRule::kReserves ? entry.target : nullptr;
    left_.push_back({entry.job, {lacks, {BlockedOn::kSlots}}, told});
  }

  // Jobs for which no other is preempted because of the limits. Of one that room is kept for only how long it waits.
  void tell_held_up() {
    if (preemption_.limits().none()) return;
    for (Waiting& left : left_) {
      const Job& job = *left.job;
      if (left.lacks.blocked.on != BlockedOn::kSlots || has_gang_rule(job.spec)) continue;
      const bool lacks_room =
          std::any_of(held_up_.begin(), held_up_.end(), [&](const HeldUp& any) { return any.job == &job; });
      if (!lacks_room && draft_.now() >= may_preempt_from(draft_.state(), job)) continue;
      if (auto why = preemption_.why_held_up(job, free_for(job))) left.lacks.reason = *std::move(why);
    }
  }

  [[nodiscard]] int free_for(const Job& job) {
    return std::max(0, std::min(draft_.usable(), draft_.free_slots().free_for(job)));
  }
  [[nodiscard]] reason::WaitingForSlots lacks_slots(const Job& job) {
    return {.needed = job.spec.smallest_slots(), .free = free_for(job)};
  }

  // Where it could not start even at its smallest size, workers of other jobs leave nodes for it, if that makes room.
  void start_or_clear(const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (start_job(draft_, job, *entry.target)) return;
    if (waits_for_nodes(entry)) return;
    leave(entry, lacks_slots(job));
    (void)keeps_nodes(job);
  }

  // For workers of several slots, while those in the way may not be preempted yet.
  bool keeps_nodes(const Job& job) {
    const bool is_wide = job.spec.gpus_per_worker > 1;
    return rule_ == LineRule::kReserves && is_wide && preemption_.keep_until_they_may_be(job);
  }

  bool waits_for_nodes(const TargetedJob& entry) {
    const Job& job = *entry.job;
    // A rule's target is gone when this is told, and its jobs follow no plan.
    if (rule_ != LineRule::kReserves) return false;
    auto found = clear_nodes_for(draft_, job, preemption_.reservations(), preemption_.limits());
    if (found) left_.push_back({&job, *std::move(found), entry.target});
    return found.has_value();
  }

  // Where a job waits: as one that asks for just that place.
  struct WaitsAt {
    Job asks;
    TypeRoom room;
    reason::WaitingForSlots lacks;
    [[nodiscard]] bool comes() const { return room.coming || !room.movers.empty(); }
  };

  // Of the places at which it may wait that at which room comes; else the first at which others make room now, or are
  // going to, or the first of all. None: all are closed.
  std::optional<WaitsAt> find_place(const Job& job) {
    if (closed_for_.contains(node_demand(job.spec)) || is_closed_for(job)) {
      closed_for_.insert(node_demand(job.spec));
      return std::nullopt;
    }
    std::vector<WaitsAt> places;
    for (const WaitPlace& place : places_to_wait_for(draft_.state(), draft_.free_slots(), job, draft_.now())) {
      Job asks = bound_to(draft_.state(), job, place);
      const reason::WaitingForSlots lacks = lacks_slots(asks);
      places.push_back({.asks = std::move(asks), .room = {}, .lacks = lacks});
    }
    if (places.empty()) return std::nullopt;
    auto best = std::find_if(places.begin(), places.end(), [&](const WaitsAt& at) {
      return preemption_.reservations().workers_of(at.asks) >= job.spec.elastic.sizes.front();
    });
    if (best == places.end()) return std::move(*make_room_at(places));
    best->room.coming = true;
    return std::move(*best);
  }

  std::vector<WaitsAt>::iterator make_room_at(std::vector<WaitsAt>& places) {
    const auto made = [&] { return std::pair(draft_.next_worker(), draft_.leaving_workers().size()); };
    const auto before = made();
    for (auto at = places.begin(); at != places.end(); ++at) {
      at->room = preemption_.make_room_on_nodes(at->asks);
      if (at->room.coming || made() != before) return at;
    }
    const auto moves = std::find_if(places.begin(), places.end(), [](const WaitsAt& at) { return at.comes(); });
    return moves == places.end() ? places.begin() : moves;
  }

  void take_choosy(const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (job.state() != JobState::kPending) return grow_choosy(entry, job);
    // Behind one that asks for the same it finds every node closed.
    if (closed_for_.contains(node_demand(job.spec))) return leave_behind(entry);
    if (!start_job(draft_, job, *entry.target)) wait_choosy(entry, job);
  }

  // It waits for slots of the nodes for which it claims to ask, and other jobs move away for it; slots of other nodes
  // go to those behind it.
  void wait_choosy(const TargetedJob& entry, const Job& asks) {
    const Job& job = *entry.job;
    const std::optional<WaitsAt> at = find_place(asks);
    if (!at) return leave_closed(entry);
    if (!at->comes() && waits_for_nodes(entry)) return;
    if (!at->room.coming) draft_.set_unsettled();
    leave(entry, told_of(job, at->room, at->lacks));
    if (at->comes() || !keeps_nodes(asks)) wait_at(job, *at);
  }

  // Jobs give way for what it is to have more, and it is kept until it is there.
  void grow_choosy(const TargetedJob& entry, const Job& claimant) {
    const Job& job = *entry.job;
    const int more = entry.target->size - job.size();
    if (rule_ == LineRule::kReserves && more > 0 && preemption_.frees_slots()) {
      Job asks = claimant;
      asks.spec.elastic.sizes = {more};
      if (const auto type = bound_type(draft_.state(), job)) asks.spec.slot_types = {*type};
      const bool is_open = !closed_for_.contains(node_demand(asks.spec));
      GangRequest gang = gang_beside_members(draft_.state(), asks, more);
      gang.one_type = !asks.spec.mixed_types;
      if (is_open && draft_.free_slots().room_for(gang) < more && preemption_.make_room_to_grow(asks)) {
        (void)preemption_.reservations().keep_for(asks, more);
        preemption_.limits().keep_for({job, more * job.spec.gpus_per_worker});
      }
    }
    plan_size(draft_, job, *entry.target);
  }

  void leave_closed(const TargetedJob& entry) {
    if (is_choosy(entry.job->spec)) draft_.set_unsettled();
    leave_behind(entry);
  }
  void leave_behind(const TargetedJob& entry) {
    leave(entry, told_of(*entry.job, {}, {.needed = entry.job->spec.smallest_slots()}));
  }

  // Of one that asks for any nodes, and for these because of its cap, no more than what it lacks.
  [[nodiscard]] Reason told_of(const Job& job, const TypeRoom& room, const reason::WaitingForSlots& lacks) const {
    return is_choosy(job.spec) ? told_of_room(draft_, room, job, lacks) : Reason(lacks);
  }

  // No node on which the job may run is open.
  [[nodiscard]] bool is_closed_for(const Job& job) const {
    const auto& nodes = draft_.state().nodes;
    return std::none_of(nodes.begin(), nodes.end(),
                        [&](const auto& entry) { return may_hold(draft_, entry.second, job); });
  }

  // What comes free there is no other job's.
  void wait_at(const Job& job, const WaitsAt& at) {
    if (rule_ != LineRule::kReserves && !at.comes()) return;  // those behind it may pass
    if (at.comes()) preemption_.limits().keep_for({job, job.spec.smallest_slots()});
    draft_.free_slots().close_for(at.asks);
    preemption_.close_for(at.asks);
  }

  // One whose workers have rules together. If it finds no room, what there is of it is kept, and other jobs make more.
  void take_by_rules(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const bool starts = job.state() == JobState::kPending;
    // What is free on the nodes that an exclusive job has to itself is no room that others leave.
    if (!starts && job.spec.placement.exclusive) return plan_size(draft_, job, *entry.target);
    if (!starts) return grow_choosy(entry, job);
    if (!start_job(draft_, job, *entry.target)) wait_by_rules(entry, job);
  }

  void wait_by_rules(const TargetedJob& entry, const Job& asks) {
    const Job& job = *entry.job;
    draft_.set_unsettled();
    const Reason lacks = waits_by_rules(draft_.state(), draft_.free_slots(), job);
    if (const std::optional<WaitsAt> at = find_place(asks)) {
      if (!at->comes() && waits_for_nodes(entry)) return;
      if (job.spec.placement.strategy == TopologyStrategy::kStrictPack) {
        wait_at(job, *at);
      } else if (rule_ == LineRule::kReserves) {
        keep_nodes(at->asks);
      }
    }
    leave(entry, lacks);
  }

  // Where it will have room, once what leaves is gone; else what room it finds now.
  void keep_nodes(const Job& job) {
    const int smallest = job.spec.elastic.sizes.front();
    if (!preemption_.reservations().keep_for(job, smallest)) draft_.free_slots().hold_for(job, smallest);
  }

  DecisionDraft& draft_;
  LineRule rule_;
  Preemption preemption_;
  std::vector<Waiting> left_;
  std::vector<HeldUp> held_up_;
  std::map<JobId, KeptRoom> kept_rooms_;
  int waiting_ = 0;                  // could not start and do not wait for their state
  bool reserves_ = false;            // room is kept for a job in line
  bool gang_waits_ = false;          // one that needs several slots of a node
  std::set<NodeDemand> closed_for_;  // nodes asked for, of which none is open
  CappedStarts capped_starts_;
};

// Of the line those whose claims guarantees cover, one after another in the plan's order; none where preemptions of the
// pool have no limit.
IdSet<JobId> within_guarantees(const DecisionDraft& draft, const std::vector<TargetedJob>& line) {
  PreemptionLimits limits(draft.state(), draft.now());
  IdSet<JobId> jobs;
  if (!limits.left()) return jobs;
  std::vector<TargetedJob> in_order = line;
  std::sort(in_order.begin(), in_order.end(), [](const TargetedJob& a, const TargetedJob& b) {
    return std::pair(a.target->place, a.job->id) < std::pair(b.target->place, b.job->id);
  });
  for (const TargetedJob& each : in_order) {
    const int slots = (each.target->size - each.job->size()) * each.job->spec.gpus_per_worker;
    if (slots <= 0 || limits.covered(*each.job) < slots) continue;
    jobs.insert(each.job->id);
    limits.keep_for({*each.job, slots});
  }
  return jobs;
}

// In the plan's order: those that do not have what it gives them. First are jobs for which others have left nodes,
// gangs for which others were preempted within limits, and claims of a guaranteed type, so that none takes the slots
// that were left for them; with a limit of the pool, claims within any guarantee, which count against it. Running jobs
// of a pinned policy are its rule's.
std::vector<TargetedJob> line_of(DecisionDraft& draft, const IdSet<JobId>& to_reconcile) {
  std::vector<TargetedJob> line;
  for (const JobId id : to_reconcile) {
    const Job& job = *draft.state().find_job(id);
    const Target* target = draft.planned_target(job);
    const bool has_rule = job.state() != JobState::kPending && !draft.follows_plan(job);
    if (target == nullptr || has_rule || draft.ends(id) || !counts(job, draft.now())) continue;
    if (needs_reconcile(job, *target)) line.push_back({&job, target});
  }
  IdSet<JobId> guaranteed;
  for (const TargetedJob& each : line) {
    if (draft.type_guarantees().are_claimed_by(*each.job)) guaranteed.insert(each.job->id);
  }
  guaranteed.insert(within_guarantees(draft, line));
  std::sort(line.begin(), line.end(), [&](const TargetedJob& a, const TargetedJob& b) {
    const auto rank = [&](const TargetedJob& any) {
      const bool is_gang_with_room = any.job->preemption.room_made && any.job->spec.gpus_per_worker > 1;
      return std::tuple(!is_cleared_for(*any.job), !is_gang_with_room, !guaranteed.contains(any.job->id),
                        any.target->place, any.job->id);
    };
    return rank(a) < rank(b);
  });
  return behind_claimants(std::move(line));
}

// By rank: all that wait and are not about to end.
std::vector<JobId> line_of(const DecisionDraft& draft, const JobRule& rule, const IdSet<JobId>& pending) {
  std::vector<WaitingLine::Place> line;
  for (const JobId id : pending) {
    const Job& job = *draft.state().find_job(id);
    if (!is_ending(job, draft.now())) line.emplace_back(rule.rank(job), id);
  }
  std::sort(line.begin(), line.end());
  std::vector<JobId> ids;
  ids.reserve(line.size());
  for (const auto& [rank, id] : line) ids.push_back(id);
  return ids;
}

// Only those in line for which there is room and those that must be looked at.
void walk(DecisionDraft& draft, const WaitingLine& line, Reconciler& reconciler) {
  using Place = WaitingLine::Place;
  const auto fits = [&](const WaitingLine::Need& need) {
    if (draft.usable() < need.workers * need.slots_per_worker) return false;
    return draft.free_slots().room_for(need.slots_per_worker) >= need.workers;
  };
  const bool strict = draft.default_policy().line_rule() == LineRule::kStrict;
  const auto next = [&](const std::optional<Place>& after) {
    if (reconciler.is_blocked()) return line.next_open(after);
    return strict ? line.next(after) : line.next_helped(after, fits);
  };
  std::size_t seen = 0;  // in line up to here
  for (std::optional<Place> place = next({}); place; place = next(place)) {
    const std::size_t before = line.before(*place);
    reconciler.pass_by(before - std::exchange(seen, before + 1));
    const Job& job = *draft.state().find_job(place->second);
    if (!is_ending(job, draft.now())) reconciler.allocate_waiting(job);
  }
  reconciler.pass_by(line.size() - seen);
}

}  // namespace

IdSet<JobId> reconcile(DecisionDraft& draft, const OffPlan& to_reconcile) {
  draft.set_queue_waits(false);
  if (to_reconcile.jobs.empty()) return {};
  const std::vector<TargetedJob> line = line_of(draft, to_reconcile.jobs);
  Reconciler reconciler(draft, to_reconcile.releasing);
  for (const TargetedJob& entry : line) reconciler.shrink_over_target(entry);
  reconciler.order_victims();
  for (const TargetedJob& entry : line) reconciler.keep_room(entry);
  for (const TargetedJob& entry : line) reconciler.allocate(entry);
  reconciler.keep_running();
  reconciler.record_pending_reasons();
  tell_claimants(draft, line, to_reconcile.releasing);
  draft.set_queue_waits(reconciler.is_waited());
  IdSet<JobId> dealt_with;
  for (const TargetedJob& entry : line) dealt_with.insert(entry.job->id);
  return dealt_with;
}

void reconcile(DecisionDraft& draft, const InLine& waiting) {
  const IdSet<JobId> releasing;
  Reconciler reconciler(draft, releasing);
  if (waiting.line != nullptr) {
    walk(draft, *waiting.line, reconciler);
  } else {
    for (const JobId id : line_of(draft, *draft.default_policy().rule(), waiting.pending)) {
      reconciler.allocate_waiting(*draft.state().find_job(id));
    }
  }
  reconciler.record_pending_reasons();
  draft.set_queue_waits(reconciler.is_waited());
}

}  // namespace tidepool::core
