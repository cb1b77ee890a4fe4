#include "core/decide/preemption.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/check.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/state/job_work.hpp"

namespace tidepool::core {

SlotReservations& Preemption::reservations() {
  if (!reservations_) reservations_.emplace(draft_, releasing_);
  return *reservations_;
}

void Preemption::close(const std::vector<std::string>& slot_types) {
  if (reservations_) reservations_->close(slot_types);
}

void Preemption::add(const TargetedJob& victim) {
  victims_.push_back(victim);
  forget_sums();
}

void Preemption::forget_sums() {
  victim_slots_.reset();
  ending_victims_.reset();
}

void Preemption::close_for(const Job& job) {
  if (reservations_) reservations_->close_for(job);
}

bool Preemption::make_room(const Job& claimant, const SlotClaim& claim) {
  if (victims_.empty()) return false;
  if (is_hopeless(claim)) {
    for (const TargetedJob& each : ending_victims()) (void)may_be_preempted(*each.job, claimant);  // it needed them
    return false;
  }
  const SlotReservations before = reservations();
  std::vector<TargetedJob> chosen;
  for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
    if (!may_be_preempted(*victim->job, claimant)) continue;
    chosen.push_back(*victim);
    add_workers(*victim, reservations());
    if (!reservations().fits(claim)) continue;
    drop_unneeded(chosen, claim, before);
    TP_CHECK(reservations().reserve(claim), "the victims that are left make room for the claim");
    for (const TargetedJob& each : chosen) preempt_for(each, claimant);
    return true;
  }
  reservations_.emplace(before);
  return false;
}

bool Preemption::is_hopeless(const SlotClaim& claim) {
  if (!claim.types || claim.slots_each > 1) return false;
  if (!victim_slots_) {
    victim_slots_.emplace();
    for (const TargetedJob& victim : victims_) {
      for (const WorkerId id : victim.job->membership.workers) {
        const Worker& worker = *draft_.state().find_worker(id);
        (*victim_slots_)[draft_.state().find_node(worker.node)->slot_type] += static_cast<int>(worker.slots.size());
      }
    }
  }
  return std::none_of(claim.types->begin(), claim.types->end(), [&](const std::string& type) {
    const auto held = victim_slots_->find(type);
    const int most = held == victim_slots_->end() ? 0 : held->second;
    return reservations().workers_on(type, claim) + most >= claim.workers;
  });
}

const std::vector<TargetedJob>& Preemption::ending_victims() {
  if (!ending_victims_) {
    ending_victims_.emplace();
    std::copy_if(victims_.begin(), victims_.end(), std::back_inserter(*ending_victims_),
                 [&](const TargetedJob& each) { return ends_soon(*each.job, draft_.now()); });
  }
  return *ending_victims_;
}

// By those that hold slots where the job may run, if they are enough; else by workers that move elsewhere.
TypeRoom Preemption::make_room_on_nodes(const Job& claimant) {
  if (reservations().workers_of(claimant) >= claimant.spec.elastic.sizes.front()) return {.coming = true};
  TypeRoom room = room_of_type(draft_, claimant, draft_.leaving_workers());
  if (room.coming) return room;
  const IdSet<WorkerId> leaving = draft_.leaving_workers();
  std::optional<OpenSlots> open;
  std::vector<TargetedJob> chosen;
  for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
    if (!is_in_way(*victim->job, claimant) || !may_be_preempted(*victim->job, claimant)) continue;
    chosen.push_back(*victim);
    if (!open) open.emplace(draft_, claimant, leaving);
    open->release(*victim->job);
    if (!open->fits()) continue;
    drop_unneeded(chosen, *open);
    IdSet<WorkerId> with_them = leaving;
    for (const TargetedJob& each : chosen) {
      with_them.insert(each.job->membership.workers.begin(), each.job->membership.workers.end());
    }
    room = room_of_type(draft_, claimant, with_them);
    for (const TargetedJob& each : chosen) preempt_for(each, claimant);
    return room;
  }
  if (room.movers.empty()) return room;
  const std::uint64_t next_worker = draft_.next_worker();
  make_room_elsewhere(claimant, move_away(draft_, claimant, room));
  const bool none_goes = draft_.next_worker() == next_worker && draft_.leaving_workers().size() == leaving.size();
  return none_goes ? room : room_of_type(draft_, claimant, draft_.leaving_workers());
}

// So many slots that movers lack come from victims, or are kept as they come free.
void Preemption::make_room_elsewhere(const Job& claimant, int lacking) {
  draft_.reserve(lacking);
  keeps_for_movers_ = keeps_for_movers_ || lacking > 0;
  const auto held_by = [](const std::vector<TargetedJob>& victims) {
    int slots = 0;
    for (const TargetedJob& each : victims) slots += each.job->size() * each.job->spec.gpus_per_worker;
    return slots;
  };
  std::vector<TargetedJob> chosen;
  for (auto victim = victims_.rbegin(); victim != victims_.rend() && held_by(chosen) < lacking; ++victim) {
    if (may_be_preempted(*victim->job, claimant)) chosen.push_back(*victim);
  }
  if (held_by(chosen) >= lacking) {
    drop_unneeded(chosen, [&](const std::vector<TargetedJob>& fewer) { return held_by(fewer) >= lacking; });
  }
  for (const TargetedJob& victim : chosen) preempt_for(victim, claimant);
}

// It holds slots on a node on which the claimant may run.
bool Preemption::is_in_way(const Job& job, const Job& claimant) const {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(), [&](WorkerId id) {
    return may_run_on(claimant, *draft_.state().find_node(draft_.state().find_worker(id)->node));
  });
}

// Drops each chosen victim without which the others are enough, the highest in the plan's order first. The newest
// stays: without it they were not enough.
template <class Enough>
void Preemption::drop_unneeded(std::vector<TargetedJob>& chosen, const Enough& enough) {
  if (chosen.size() < 2) return;
  for (std::size_t at = chosen.size() - 1; at-- > 0;) {
    std::vector<TargetedJob> others = chosen;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    if (enough(others)) chosen = std::move(others);
  }
}

// The same where all of them have been released.
void Preemption::drop_unneeded(std::vector<TargetedJob>& chosen, OpenSlots& open) {
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

// The same for a claim, for which `before` had no room. A claim of single slots needs every victim, and none is tried
// without, unless one holds no more than what is left over.
void Preemption::drop_unneeded(std::vector<TargetedJob>& chosen, const SlotClaim& claim,
                               const SlotReservations& before) {
  const bool is_spare =
      claim.slots_each > 1 || claim.types || std::any_of(chosen.begin(), chosen.end(), [&](const TargetedJob& each) {
        return each.job->size() * each.job->spec.gpus_per_worker <= reservations().left_over(claim);
      });
  if (!is_spare) return;
  const auto with = [&](const std::vector<TargetedJob>& victims) {
    SlotReservations made = before;
    for (const TargetedJob& each : victims) add_workers(each, made);
    return made;
  };
  drop_unneeded(chosen, [&](const std::vector<TargetedJob>& fewer) { return with(fewer).fits(claim); });
  reservations_.emplace(with(chosen));
}

void Preemption::add_workers(const TargetedJob& victim, SlotReservations& reservations) const {
  for (const WorkerId id : victim.job->membership.workers) reservations.add(*draft_.state().find_worker(id));
}

// One that ends sooner than it could be started again is not worth the change, unless for a higher priority.
bool Preemption::may_be_preempted(const Job& job, const Job& claimant) {
  if (draft_.resizes(job.id) || preemption_barred(draft_, job)) return false;
  if (claimant.spec.priority > job.spec.priority || !ends_soon(job, draft_.now())) return true;
  ending_[job.id].insert(claimant.id);
  return false;
}

void Preemption::preempt_for(const TargetedJob& victim, const Job& claimant) {
  const reason::Preempted reason{.for_job = claimant.id};
  preempt(draft_, *victim.job, reason, victim.target);
  std::erase_if(victims_, [&](const TargetedJob& each) { return each.job == victim.job; });
  forget_sums();
}

void Preemption::keep_the_others() {
  for (const auto& [job, target] : victims_) {
    const auto barred = is_missed(*job) ? std::optional(end_of(*job)) : preemption_barred(draft_, *job);
    keep_size(draft_, *job, *target, barred ? *barred : Reason(reason::Unclaimed{{.size = job->size()}}));
  }
}

// Some job that needed its slots has no intent in this decision: it still lacks them, unless it waits for its state now
// that others have the room where that lies.
bool Preemption::is_missed(const Job& job) const {
  const auto found = ending_.find(job.id);
  if (found == ending_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](JobId id) {
    return !draft_.changed(id) && !waits_for_state(draft_, *draft_.state().find_job(id));
  });
}

// Of a job that ends soon.
Reason Preemption::end_of(const Job& job) const {
  const Duration left = std::max(Duration(), *expected_end(job) - draft_.now());
  return reason::EndsSoon{{.left = left}};
}

}  // namespace tidepool::core
