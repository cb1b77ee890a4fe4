#include "core/decide/reconcile/reconciler.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/claimants.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/reconcile/holding_limits.hpp"
#include "core/decide/reconcile/line_order.hpp"
#include "core/decide/reconcile/node_claims.hpp"
#include "core/decide/reconcile/node_clearing.hpp"
#include "core/decide/reconcile/pending_reasons.hpp"
#include "core/decide/reconcile/preemption.hpp"
#include "core/decide/reconcile/share_rules.hpp"
#include "core/decide/reconcile/victims.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/decide/start_job.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/together.hpp"

namespace tidepool::core {
namespace {

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
      : draft_(draft),
        rule_(draft.active_policy().line_rule()),
        victims_(draft, releasing),
        preemption_(draft, victims_),
        pending_(draft),
        nodes_(draft, victims_, pending_) {}
  // Its parts see each other.
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // Shrinks at once; a job to which the plan gives nothing may be preempted later.
  void shrink_over_target(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const int size = entry.target->size;
    if (job.state() == JobState::kPending || size > job.size()) return;
    if (size > 0) return plan_size(draft_, job, *entry.target);
    if (can_give_up(draft_, job)) victims_.add(entry);
  }

  // Room for a job for which others were preempted and that has not started since: those before it in line, which the
  // limits on preemption may hold up, do not take it.
  void keep_room(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const bool claims =
        job.preemption.room_made && job.spec.gpus_per_worker == 1 && !is_choosy(job.spec) && !has_gang_rule(job.spec);
    if (!claims || entry.target->size <= job.size()) return;
    if (draft_.may_be_above_cap(job, entry.target->size - job.size())) return;  // it claims nodes
    SlotReservations& reservations = victims_.reservations();
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
      victims_.reservations().release(kept->second.claim);
      draft_.reserve(-kept->second.free_slots);
    }
    if (entry.target->size <= job.size() || draft_.resizes(job.id)) return;
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
  void pass_by(std::size_t jobs) { pending_.pass_by(static_cast<int>(jobs)); }

  // No job behind may start.
  [[nodiscard]] bool is_blocked() const { return rule_ == LineRule::kStrict && pending_.waiting() > 0; }

  void order_victims() { victims_.keep_unsaved(); }

  void keep_running() {
    keep_to_holding_limits(draft_, victims_);
    victims_.keep_the_others();
  }

  // Once all slots are handed out: which jobs did not start, and why.
  void record_pending_reasons() {
    IdSet<JobId> held_up;
    for (const HeldUp& each : held_up_) held_up.insert(each.job->id);
    pending_.record(victims_, held_up);
  }

  [[nodiscard]] bool is_waited() const {
    if (rule_ == LineRule::kReserves) return reserves_ || nodes_.keeps_for_movers();
    return pending_.any();
  }

 private:
  // Slots that come free for the claim and that no room kept before counts on.
  int coming_beside_kept(const SlotClaim& claim) {
    int coming = victims_.reservations().coming_for(claim);
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
    const reason::BehindOlderJob behind{.ahead = pending_.waiting(), .needed = job.spec.smallest_slots(), .free = free};
    pending_.pass_by(1);
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
    // Its state is on a node without room: it blocks no other job, because room elsewhere does not help it.
    if (rule_ == LineRule::kReserves) return draft_.find(job, *held, entry.target);
    pending_.add({&job, *held, nullptr});
  }

  void serve(const TargetedJob& entry) {
    const Job& job = *entry.job;
    const bool starts = job.state() == JobState::kPending;
    const bool barred = !starts && growth_barred(draft_, job, entry.target->size);
    if (starts && is_too_dear(job)) return;
    if (starts && is_cleared_for(job) && (start_job(draft_, job, *entry.target) || nodes_.waits_for_nodes(entry)))
      return;
    if (barred) return take(entry);
    if (draft_.may_be_above_cap(job, entry.target->size - job.size())) return nodes_.take_within_cap(entry);
    if (has_gang_rule(job.spec)) return nodes_.take_by_rules(entry);
    if (is_choosy(job.spec)) return nodes_.take_choosy(entry);
    if (rule_ != LineRule::kReserves) return take(entry);
    SlotClaim claim = claim_of(draft_, job, entry.target->size);
    if (may_take(claim) && fits_now(claim)) {
      take(entry);
      if (draft_.changed(job.id) || !starts) return;
    }
    if (may_take(claim) && !victims_.reservations().reserve(claim) && !make_room(job, claim)) {
      starts ? start_or_clear(entry) : take(entry);
      if (!draft_.alters(job.id) && !victims_.limits().none()) held_up_.push_back({&job, claim});
      return;
    }
    reserve(claim);
    victims_.limits().keep_for({job, claim.slots()});
    // On another type it would start smaller.
    if (starts && claim.types) return pending_.leave(entry, lacks_slots(draft_, job));
    take(entry);  // nothing is left to take: this says why
  }

  // By preemption. Where the limits on that hold it up, at least for what a guarantee covers, which `claim` is then.
  bool make_room(const Job& job, SlotClaim& claim) {
    if (!preemption_.make_room(job, claim)) {
      if (victims_.limits().none()) return false;
      SlotClaim part = claim;
      part.workers = preemption_.covered_workers(job, claim);
      if (part.workers == 0 || fits_now(part) || !preemption_.is_held_up(job, claim)) return false;
      if (!victims_.reservations().reserve(part) && !preemption_.make_room(job, part)) return false;
      claim = part;
    }
    serve_held_up();
    return true;
  }

  // Jobs before it that the limits hold up have what its victims leave over, as they come before it in line.
  void serve_held_up() {
    for (HeldUp& each : std::exchange(held_up_, {})) {
      if (may_take(each.claim) && !victims_.reservations().reserve(each.claim)) {
        held_up_.push_back(std::move(each));
        continue;
      }
      reserve(each.claim);
      victims_.limits().keep_for({*each.job, each.claim.slots()});
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
      victims_.close(kept);
      return;
    }
    gang_waits_ = gang_waits_ || claim.slots_each > 1;
    draft_.reserve(gang_waits_ ? draft_.free_slots().free() : claim.slots());
  }

  // Starts or grows as far as slots allow that are reserved for no other; otherwise notes what is missing.
  void take(const TargetedJob& entry) {
    if (entry.job->state() != JobState::kPending) return plan_size(draft_, *entry.job, *entry.target);
    if (!start_job(draft_, *entry.job, *entry.target)) pending_.leave(entry, lacks_slots(draft_, *entry.job));
  }

  // Where it could not start even at its smallest size, workers of other jobs are moving off nodes for it, if that
  // makes room.
  void start_or_clear(const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (start_job(draft_, job, *entry.target)) return;
    if (nodes_.waits_for_nodes(entry)) return;
    pending_.leave(entry, lacks_slots(draft_, job));
    (void)nodes_.keep_until_preemption(job);
  }

  DecisionDraft& draft_;
  LineRule rule_;
  Victims victims_;
  Preemption preemption_;
  PendingReasons pending_;
  NodeClaims nodes_;
  std::vector<HeldUp> held_up_;
  std::map<JobId, KeptRoom> kept_rooms_;
  bool reserves_ = false;    // room is kept for a job in line
  bool gang_waits_ = false;  // one that needs several slots of a node
};

// Only those in line for which there is room and those that must be looked at.
void walk(DecisionDraft& draft, const WaitingLine& line, Reconciler& reconciler) {
  const auto fits = [&](const WaitingLine::Need& need) {
    if (draft.usable() < need.workers * need.slots_per_worker) return false;
    return draft.free_slots().room_for(need.slots_per_worker) >= need.workers;
  };
  const bool strict = draft.active_policy().line_rule() == LineRule::kStrict;
  const auto next = [&](const std::optional<WaitingLine::Place>& after) {
    if (reconciler.is_blocked()) return line.next_open(after);
    return strict ? line.next(after) : line.next_helped(after, fits);
  };
  std::size_t seen = 0;  // in line up to here
  for (std::optional<WaitingLine::Place> place = next({}); place; place = next(place)) {
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
  record_claimants(draft, line, to_reconcile.releasing);
  record_share_rules(draft);
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
    for (const JobId id : line_of(draft, *draft.active_policy().rule(), waiting.pending)) {
      reconciler.allocate_waiting(*draft.state().find_job(id));
    }
  }
  reconciler.record_pending_reasons();
  draft.set_queue_waits(reconciler.is_waited());
}

}  // namespace tidepool::core
