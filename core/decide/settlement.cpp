#include "core/decide/settlement.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/id_set.hpp"
#include "core/decide/cluster_planner.hpp"
#include "core/decide/plan_grounds.hpp"
#include "core/decide/queue_planner.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/type_moves.hpp"
#include "core/state/job_state.hpp"
#include "core/state/job_work.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

struct Entry {
  const Job* job;
  const Allotment* allotment;
};

// A job that could not start, with what it lacks if that is room alone.
struct Left {
  const Job* job;
  Finding lacks;
  const Allotment* asked;
};

// Workers that a job wants to add, each a gang of slots on one node.
struct Claim {
  int workers = 0;
  int slots_each = 1;
  [[nodiscard]] int slots() const { return workers * slots_each; }
};

bool leaves(const Job& job, const Worker& worker) {
  if (worker.node_lost) return false;
  if (worker.phase == WorkerPhase::kLeaving || worker.kill_at) return true;
  return job.transition && contains(job.transition->leavers, worker.id);
}

// Slots that are free or will be without anybody deciding more, less what earlier claims are waiting for.
class Room {
 public:
  Room(DecisionDraft& draft, const IdSet<JobId>& giving) : draft_(draft) {
    IdSet<WorkerId> leaving = draft.leavers();
    for (const JobId id : giving) {
      const Job& job = *draft.state().find_job(id);
      for (const WorkerId worker : job.workers) {
        if (leaves(job, *draft.state().find_worker(worker))) leaving.insert(worker);
      }
    }
    for (const WorkerId id : leaving) add(*draft.state().find_worker(id));
  }

  // Once, however it is found: a job that gives up everything may have leavers on their way already.
  void add(const Worker& worker) {
    if (!counted_.insert(worker.id)) return;
    const Node& node = *draft_.state().find_node(worker.node);
    if (node.state != NodeState::kUp || node.cordoned || draft_.free_slots().is_closed(node.id)) return;
    coming_[worker.node] += static_cast<int>(worker.slots.size());
    all_coming_ += static_cast<int>(worker.slots.size());
  }

  // What comes free there is for somebody else.
  void close(const std::vector<std::string>& slot_types) {
    for (auto& [id, slots] : coming_) {
      if (is_of_type(*draft_.state().find_node(id), slot_types)) all_coming_ -= std::exchange(slots, 0);
    }
  }

  // Single slots beyond those that the claim needs; below 0 if there are too few.
  [[nodiscard]] int left_over(const Claim& claim) const {
    return static_cast<int>(draft_.free_slots().free()) + all_coming_ - held_ - claim.slots();
  }

  [[nodiscard]] bool fits(const Claim& claim) const {
    if (claim.slots_each == 1) return left_over(claim) >= 0;
    // Before a gang that needs several slots of a node nothing is held, and behind it nothing is taken.
    int workers = 0;
    for (const auto& [id, node] : draft_.state().nodes) workers += room_on(id) / claim.slots_each;
    return workers >= claim.workers;
  }

  // Keeps room for the claim, if there is any.
  [[nodiscard]] bool hold(const Claim& claim) {
    if (!fits(claim)) return false;
    if (claim.slots_each == 1) held_ += claim.workers;
    return true;
  }

 private:
  [[nodiscard]] int room_on(NodeId node) const {
    const auto coming = coming_.find(node);
    return static_cast<int>(draft_.free_slots().free_on(node)) + (coming == coming_.end() ? 0 : coming->second);
  }

  DecisionDraft& draft_;
  IdSet<WorkerId> counted_;
  std::map<NodeId, int> coming_;
  int all_coming_ = 0;
  int held_ = 0;  // by claims of single slots
};

class Settlement {
 public:
  Settlement(DecisionDraft& draft, const Unsettled& unsettled) : draft_(draft), giving_(unsettled.giving) {
    for (const JobId id : unsettled.off_plan) {
      const Job& job = *draft.state().find_job(id);
      const Allotment* allotment = draft.allotment_of(job);
      const bool own_way = job.state != JobState::kPending && !draft.follows_plan(job);
      if (allotment == nullptr || own_way || draft.ends(id) || !counts(job, draft.now())) continue;
      if (is_off_plan(job, *allotment)) line_.push_back({&job, allotment});
    }
    std::sort(line_.begin(), line_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.allotment->place, a.job->id) < std::pair(b.allotment->place, b.job->id);
    });
  }

  IdSet<JobId> run() {
    IdSet<JobId> dealt_with;
    for (const Entry& entry : line_) {
      dealt_with.insert(entry.job->id);
      give_up(entry);
    }
    draft_.set_queue_waits(false);
    for (const Entry& entry : line_) hand_out(entry);
    for (const Entry& entry : victims_) spare(entry);
    tell_left();
    draft_.set_queue_waits(waiting_);
    return dealt_with;
  }

 private:
  // Shrinks at once; whom the plan gives nothing may be preempted later.
  void give_up(const Entry& entry) {
    const Job& job = *entry.job;
    const int size = entry.allotment->size;
    if (job.state == JobState::kPending || size > job.size() || !can_change(draft_, job)) return;
    if (size == 0) {
      victims_.push_back(entry);
      return;
    }
    plan_size(draft_, job, wished(*entry.allotment));
  }

  void hand_out(const Entry& entry) {
    const Job& job = *entry.job;
    const int size = entry.allotment->size;
    if (size <= job.size()) return;
    const bool starts = job.state == JobState::kPending;
    if (!starts && !can_change(draft_, job)) return;
    if (starts) {
      // Its state lies on a node without room: it holds up nobody, others may have room that does not help it.
      if (const auto held = waits_for_state(draft_, job))
        return draft_.find(job, *held, weighed(wished(*entry.allotment)));
    }
    const bool barred = !starts && growth_barred(draft_, job, size);
    const Claim claim{.workers = size - job.size(), .slots_each = job.spec.gpus_per_worker};
    // Dearer nodes may be all there is: nobody waits, or is preempted, for a job that they do not suit.
    if (barred || job.spec.scaling.price_cap) return take(entry, starts);
    if (!job.spec.slot_types.empty()) return take_typed(entry, starts);
    if (may_take(claim) && fits_now(claim)) {
      take(entry, starts);
      if (draft_.changed(job.id) || !starts) return;
    }
    if (may_take(claim) && !room().hold(claim) && !preempt_for(job, claim)) return take(entry, starts);
    wait(claim);
    take(entry, starts);  // nothing is left to take: this says why
  }

  // Behind a gang of several slots that waits, all wait; such a gang waits behind everybody who does.
  [[nodiscard]] bool may_take(const Claim& claim) const { return !gang_waits_ && !(waiting_ && claim.slots_each > 1); }

  [[nodiscard]] bool fits_now(const Claim& claim) {
    return draft_.usable() >= claim.slots() && draft_.free_slots().room_for(claim.slots_each) >= claim.workers;
  }

  void wait(const Claim& claim) {
    waiting_ = true;
    gang_waits_ = gang_waits_ || claim.slots_each > 1;
    draft_.reserve(gang_waits_ ? draft_.free_slots().free() : claim.slots());
  }

  // Starts or grows as far as slots allow that are reserved for nobody; otherwise notes what is missing.
  void take(const Entry& entry, bool starts) {
    const Job& job = *entry.job;
    if (!starts) return plan_size(draft_, job, wished(*entry.allotment));
    const bool started = room_to_start(draft_, job) > 0 && start_waiting(draft_, job, wished(*entry.allotment));
    if (!started) left_.push_back({&job, {lacks_slots(job), {BlockedOn::kSlots}}, entry.allotment});
  }

  // Once all slots are handed out: who did not start, and why. Only now it is known who has no room where its state is.
  void tell_left() {
    for (const Left& left : left_) {
      const auto held = waits_for_state(draft_, *left.job);
      const Finding& why = held ? *held : left.lacks;
      if (DecisionDraft::is_said(*left.job, why.reason, why.blocked)) continue;
      draft_.find(*left.job, why, weighed(wished(*left.asked)));
    }
  }

  [[nodiscard]] reason::WaitingForSlots lacks_slots(const Job& job) {
    const int needed = job.spec.elastic.sizes.front() * job.spec.gpus_per_worker;
    const int free = std::max(0, std::min(draft_.usable(), draft_.free_slots().free_of(job.spec.slot_types)));
    return {.needed = needed, .free = free};
  }

  // What it does not get, it waits for where its types are, and others leave room for it; those behind it may have what
  // is elsewhere.
  void take_typed(const Entry& entry, bool starts) {
    const Job& job = *entry.job;
    if (!starts) return plan_size(draft_, job, wished(*entry.allotment));
    if (start_waiting(draft_, job, wished(*entry.allotment))) return;
    reason::WaitingForSlots lacks = lacks_slots(job);
    lacks.type = told_of_room(make_room(job), job, draft_.now());
    left_.push_back({&job, {lacks, {BlockedOn::kSlots}}, entry.allotment});
    draft_.free_slots().close(job.spec.slot_types);
    if (room_) room_->close(job.spec.slot_types);
  }

  // By those to whom the plan gives nothing, the last in its order first, as far as they hold slots of the job's types
  // and that is enough; else by workers that move elsewhere.
  TypeRoom make_room(const Job& job) {
    TypeRoom room = room_of_type(draft_, job, draft_.leavers());
    if (room.coming) return room;
    IdSet<WorkerId> leaving = draft_.leavers();
    std::vector<Entry> chosen;
    for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
      if (!holds_type(*victim->job, job.spec.slot_types) || !may_be_preempted(*victim->job, job)) continue;
      chosen.push_back(*victim);
      leaving.insert(victim->job->workers.begin(), victim->job->workers.end());
      if (!room_of_type(draft_, job, leaving).coming) continue;
      const auto with = [&](const std::vector<Entry>& victims) {
        IdSet<WorkerId> leavers = draft_.leavers();
        for (const Entry& each : victims) leavers.insert(each.job->workers.begin(), each.job->workers.end());
        return room_of_type(draft_, job, leavers);
      };
      drop_unneeded(chosen, [&](const std::vector<Entry>& fewer) { return with(fewer).coming; });
      const TypeRoom with_them = with(chosen);
      for (const Entry& entry : chosen) give_to(entry, job);
      return with_them;
    }
    if (room.movers.empty()) return room;
    make_room_elsewhere(job, move_away(draft_, job, room));
    return room_of_type(draft_, job, draft_.leavers());
  }

  // So many slots that movers lack come from those to whom the plan gives nothing, or are kept as they come free.
  void make_room_elsewhere(const Job& job, int lacking) {
    draft_.reserve(lacking);
    waiting_ = waiting_ || lacking > 0;
    const auto held_by = [](const std::vector<Entry>& victims) {
      int slots = 0;
      for (const Entry& each : victims) slots += each.job->size() * each.job->spec.gpus_per_worker;
      return slots;
    };
    std::vector<Entry> chosen;
    for (auto victim = victims_.rbegin(); victim != victims_.rend() && held_by(chosen) < lacking; ++victim) {
      if (may_be_preempted(*victim->job, job)) chosen.push_back(*victim);
    }
    if (held_by(chosen) >= lacking) {
      drop_unneeded(chosen, [&](const std::vector<Entry>& fewer) { return held_by(fewer) >= lacking; });
    }
    for (const Entry& victim : chosen) give_to(victim, job);
  }

  [[nodiscard]] bool holds_type(const Job& job, const std::vector<std::string>& types) const {
    return std::any_of(job.workers.begin(), job.workers.end(), [&](WorkerId id) {
      return is_of_type(*draft_.state().find_node(draft_.state().find_worker(id)->node), types);
    });
  }

  // Gives back each of the chosen victims that the others make up for, the highest in the plan's order first. The
  // newest stays: without it they were not enough.
  template <class Enough>
  static void drop_unneeded(std::vector<Entry>& chosen, const Enough& enough) {
    if (chosen.size() < 2) return;
    for (std::size_t at = chosen.size() - 1; at-- > 0;) {
      std::vector<Entry> others = chosen;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
      if (enough(others)) chosen = std::move(others);
    }
  }

  // The same for a claim, for which `before` had no room. A claim of single slots needs every victim, and none is tried
  // without, unless one holds no more than what is left over.
  void drop_unneeded(std::vector<Entry>& chosen, const Claim& claim, const Room& before) {
    const bool is_spare = claim.slots_each > 1 || std::any_of(chosen.begin(), chosen.end(), [&](const Entry& each) {
                            return each.job->size() * each.job->spec.gpus_per_worker <= room().left_over(claim);
                          });
    if (!is_spare) return;
    const auto with = [&](const std::vector<Entry>& victims) {
      Room made = before;
      for (const Entry& each : victims) add_workers(each, made);
      return made;
    };
    drop_unneeded(chosen, [&](const std::vector<Entry>& fewer) { return with(fewer).fits(claim); });
    room_.emplace(with(chosen));
  }

  // Preempts as few as the claim needs, the last in the plan's order first; none if all of them were not enough.
  bool preempt_for(const Job& claimant, const Claim& claim) {
    if (victims_.empty()) return false;
    const Room before = room();
    std::vector<Entry> chosen;
    for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
      if (!may_be_preempted(*victim->job, claimant)) continue;
      chosen.push_back(*victim);
      add_workers(*victim, room());
      if (!room().fits(claim)) continue;
      drop_unneeded(chosen, claim, before);
      TP_CHECK(room().hold(claim), "the victims that are left make room for the claim");
      for (const Entry& entry : chosen) give_to(entry, claimant);
      return true;
    }
    room_.emplace(before);
    return false;
  }

  void add_workers(const Entry& entry, Room& room) const {
    for (const WorkerId id : entry.job->workers) room.add(*draft_.state().find_worker(id));
  }

  // One that ends sooner than it could be started again is not worth the change, unless for a higher priority.
  [[nodiscard]] bool may_be_preempted(const Job& job, const Job& claimant) {
    if (draft_.resizes(job.id) || preemption_barred(draft_, job)) return false;
    if (claimant.spec.priority > job.spec.priority || !ends_soon(job, draft_.now())) return true;
    ending_.insert(job.id);
    return false;
  }

  void give_to(const Entry& victim, const Job& claimant) {
    const reason::Preempted reason{.for_job = claimant.id};
    preempt(draft_, *victim.job, reason, weighed(wished(*victim.allotment)));
    std::erase_if(victims_, [&](const Entry& entry) { return entry.job == victim.job; });
  }

  // Keeps its slots for now.
  void spare(const Entry& entry) {
    const Job& job = *entry.job;
    const auto barred = ending_.contains(job.id) ? std::optional(end_of(job)) : preemption_barred(draft_, job);
    const Reason why = barred ? *barred : Reason(reason::Unclaimed{{.size = job.size()}});
    const Allotment& asked = *entry.allotment;
    plan_size(draft_, job, {.size = job.size(), .reason = why, .lost = asked.lost, .score = asked.score});
  }

  // Of a job that ends soon.
  [[nodiscard]] Reason end_of(const Job& job) const {
    const Duration left = std::max(Duration(), *expected_end(job) - draft_.now());
    return reason::EndsSoon{{.left = left}};
  }

  Room& room() {
    if (!room_) room_.emplace(draft_, giving_);
    return *room_;
  }

  DecisionDraft& draft_;
  const IdSet<JobId>& giving_;
  std::vector<Entry> line_;
  std::vector<Entry> victims_;  // running, with nothing in the plan, in its order
  IdSet<JobId> ending_;         // of those, needed by another job and kept because they end soon
  std::vector<Left> left_;
  std::optional<Room> room_;  // looked up when first somebody does not fit
  bool waiting_ = false;      // somebody in line waits for slots
  bool gang_waits_ = false;   // and needs several on one node
};

}  // namespace

IdSet<JobId> settle(DecisionDraft& draft, const Unsettled& unsettled) {
  if (unsettled.off_plan.empty()) {
    draft.set_queue_waits(false);
    return {};
  }
  return Settlement(draft, unsettled).run();
}

bool gives_slots(const ClusterState& state, const Job& job) {
  return std::any_of(job.workers.begin(), job.workers.end(),
                     [&](WorkerId id) { return leaves(job, *state.find_worker(id)); });
}

}  // namespace tidepool::core
