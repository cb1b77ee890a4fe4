#include "core/decide/preemption.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/price_cap.hpp"
#include "core/state/utc_time.hpp"

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

// Each keeps to the places in the order that jobs like it have.
void Preemption::spare_unsaved() {
  const auto loses = [](const TargetedJob& each) { return loses_work(*each.job); };
  if (std::none_of(victims_.begin(), victims_.end(), loses)) return;
  const std::vector<TargetedJob> before = victims_;
  std::map<std::pair<std::string, int>, std::vector<std::size_t>> alike;
  for (std::size_t at = 0; at < victims_.size(); ++at) {
    const JobSpec& spec = victims_[at].job->spec;
    alike[{spec.tenant, spec.priority}].push_back(at);
  }
  for (const auto& [key, places] : alike) {
    std::size_t next = 0;
    for (const bool lost : {true, false}) {
      for (const std::size_t at : places) {
        if (loses(before[at]) == lost) victims_[places[next++]] = before[at];
      }
    }
  }
}

void Preemption::forget_sums() {
  victim_slots_.reset();
  ending_victims_.reset();
}

void Preemption::close_for(const Job& job) {
  if (reservations_) reservations_->close_for(job);
}

bool Preemption::make_room(const Job& claimant, SlotClaim& claim) {
  if (victims_.empty()) return false;
  if (!is_hopeless(claim)) {
    const SlotReservations before = reservations();
    const SlotsFor wanted{claimant, claim.slots()};
    const std::vector<TargetedJob> chosen = choose(wanted, claim, By::kLimits);
    // The part that a guarantee covers is claimed by itself, and waits for no answer.
    const int covered = to_ask(chosen, wanted).empty() ? 0 : covered_workers(claimant, claim);
    const bool has_part = covered > 0 && covered < claim.workers;
    if (!chosen.empty() && !has_part) {
      TP_CHECK(reservations().reserve(claim), "the victims that are left make room for the claim");
      take(chosen, wanted);
      return true;
    }
    reservations_.emplace(before);
  }
  note_missed(claimant, [](const Job&) { return true; });
  return false;
}

std::vector<TargetedJob> Preemption::choose(const SlotsFor& claimant, const SlotClaim& claim, By by) {
  const SlotReservations before = reservations();
  std::vector<TargetedJob> chosen;
  bool fits = false;
  look_at_victims(claimant, by, [&](const TargetedJob& victim) {
    if (freed_by(*victim.job, claim, before) == 0 || !may_be_chosen(*victim.job, claimant, by)) return true;
    chosen.push_back(victim);
    add_workers(victim, reservations());
    fits = reservations().fits(claim);
    return !fits;
  });
  if (!fits) return {};
  drop_unneeded(chosen, claim, before);
  return is_within_limit(chosen, claimant, by) ? chosen : std::vector<TargetedJob>{};
}

bool Preemption::keep_until_they_may_be(const Job& gang) {
  if (victims_.empty() || !reservations().nodes_for(gang).empty()) return false;
  const SlotsFor claim{gang, gang.spec.smallest_slots()};
  SlotReservations left = reservations();
  for (const TargetedJob& each : victims_) {
    const bool may_be = each.job->spec.preemptible && limits().allow(claim, *each.job);
    if (may_be && !refused_until(*each.job, claim)) add_workers(each, left);
  }
  WorkersOn free = left.nodes_for(gang);
  int all = 0;
  for (auto& [node, slots] : free) {
    slots = std::min(slots * gang.spec.gpus_per_worker, static_cast<int>(draft_.free_slots().free_on(node)));
    all += slots;
  }
  if (all > draft_.usable()) return false;
  for (const auto& [node, slots] : free) reservations().keep(node, slots);
  return !free.empty();
}

int Preemption::covered_workers(const Job& claimant, const SlotClaim& claim) {
  const auto& sizes = claimant.spec.elastic.sizes;
  const int most = std::min(claim.workers, limits().covered(claimant) / claim.slots_each);
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), claimant.size() + most);
  return above == sizes.begin() ? 0 : std::max(0, *std::prev(above) - claimant.size());
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

// By those that hold slots where the job may run, if they are enough; else by workers that move elsewhere, and by both.
TypeRoom Preemption::make_room_on_nodes(const Job& claimant) {
  const auto room_now = [&] { return room_of_type(draft_, claimant, draft_.leaving_workers()); };
  TypeRoom room = room_now();
  if (room.coming) return room;
  if (preempt_of(victims_in_way(claimant), claimant)) {
    room = room_now();
    room.coming = true;  // also where victims are asked first
    return room;
  }
  if (room.movers.empty() && displace_for(claimant)) return room_now();
  note_missed(claimant, [&](const Job& victim) { return is_in_way(victim, claimant); });
  if (room.movers.empty()) return room;
  const std::uint64_t next_worker = draft_.next_worker();
  const std::size_t leaving = draft_.leaving_workers().size();
  make_room_elsewhere(claimant, move_away(draft_, claimant, room));
  if (draft_.next_worker() == next_worker && draft_.leaving_workers().size() == leaving) return room;
  (void)preempt_of(victims_in_way(claimant), claimant);
  return room_now();
}

bool Preemption::make_room_to_grow(const Job& claimant) {
  if (reservations().workers_of(claimant) >= claimant.spec.elastic.sizes.front()) return true;
  if (preempt_of(victims_in_way(claimant), claimant)) return true;
  note_missed(claimant, [&](const Job& victim) { return is_in_way(victim, claimant); });
  return false;
}

// That may be chosen, from the end of the plan's order.
std::vector<TargetedJob> Preemption::victims_in_way(const Job& claimant) {
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::vector<TargetedJob> in_way;
  look_at_victims(wanted, By::kLimits, [&](const TargetedJob& victim) {
    if (is_in_way(*victim.job, claimant) && may_be_chosen(*victim.job, wanted, By::kLimits)) in_way.push_back(victim);
    return true;
  });
  return in_way;
}

// As few, the first ones first, as make room together with what comes free; false: not even all of them do.
bool Preemption::preempt_of(const std::vector<TargetedJob>& in_way, const Job& claimant) {
  if (in_way.empty()) return false;
  const IdSet<WorkerId> leaving = draft_.leaving_workers();
  OpenSlots open(draft_, claimant, leaving);
  std::vector<TargetedJob> chosen;
  for (const TargetedJob& each : in_way) {
    chosen.push_back(each);
    open.release(*each.job);
    if (!open.fits()) continue;
    drop_unneeded(chosen, open);
    if (!is_within_limit(chosen, {claimant, claimant.spec.smallest_slots()}, By::kLimits)) return false;
    take(chosen, {claimant, claimant.spec.smallest_slots()});
    return true;
  }
  return false;
}

// So many slots that movers lack come from victims, or are kept as they come free.
void Preemption::make_room_elsewhere(const Job& claimant, int lacking) {
  const auto held_by = [&](const std::vector<TargetedJob>& victims) {
    int slots = 0;
    for (const TargetedJob& each : victims) slots += held_elsewhere(*each.job, claimant);
    return slots;
  };
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::vector<TargetedJob> chosen;
  look_at_victims(wanted, By::kLimits, [&](const TargetedJob& victim) {
    if (held_by(chosen) >= lacking) return false;
    if (held_elsewhere(*victim.job, claimant) == 0) return true;
    if (!may_be_chosen(*victim.job, wanted, By::kLimits)) return true;
    chosen.push_back(victim);
    if (!is_within_limit(chosen, wanted, By::kLimits)) chosen.pop_back();
    return true;
  });
  if (held_by(chosen) >= lacking) {
    drop_unneeded(chosen, [&](const std::vector<TargetedJob>& fewer) { return held_by(fewer) >= lacking; });
  } else if (coming_elsewhere(claimant) < lacking && displace_for(claimant)) {
    return;
  } else {
    note_missed(claimant, [&](const Job& victim) { return held_elsewhere(victim, claimant) > 0; });
  }
  draft_.reserve(lacking);
  keeps_for_movers_ = keeps_for_movers_ || lacking > 0;
  take(chosen, wanted);
}

int Preemption::held_elsewhere(const Job& job, const Job& claimant) const {
  int slots = 0;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft_.state().find_worker(id);
    const Node& node = *draft_.state().find_node(worker.node);
    const bool is_of_use = node.takes_workers() && !may_run_on(claimant, node);
    if (is_of_use) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

int Preemption::coming_elsewhere(const Job& claimant) const {
  int slots = 0;
  for (const auto& [id, worker] : draft_.state().workers) {
    if (draft_.free_slots().is_closed(worker.node)) continue;
    if (!comes_free(draft_.state(), worker, draft_.leaving_workers())) continue;
    if (!may_run_on(claimant, *draft_.state().find_node(worker.node))) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

// From the end of the plan's order. One that asks for particular nodes only if it may be on others than the claimant.
std::vector<TargetedJob> Preemption::displaced_by(const Job& claimant) {
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
    if (!goes_on || !is_in_way(*job, claimant) || !can_change(draft_, *job)) continue;
    if (draft_.type_guarantees().asks(*job) && !may_be_elsewhere(*job)) continue;
    if (may_be_chosen(*job, wanted, By::kLimits)) displaced.push_back({job.get(), target});
  }
  std::sort(displaced.begin(), displaced.end(), [](const TargetedJob& one, const TargetedJob& other) {
    return std::pair(one.target->place, one.job->id) > std::pair(other.target->place, other.job->id);
  });
  return displaced;
}

// Of these, in order, those without which their tenants have what they are guaranteed of types, beside what leaves.
std::vector<TargetedJob> Preemption::spared(const std::vector<TargetedJob>& victims,
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
bool Preemption::displace_for(const Job& claimant) {
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
        return freed_by(*each.job, claim, before) <= reservations().left_over(claim);
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

// Slots of use to the claim: none on nodes that take no workers or are kept for others.
int Preemption::freed_by(const Job& victim, const SlotClaim& claim, const SlotReservations& beside) const {
  int slots = 0;
  for (const WorkerId id : victim.membership.workers) {
    const Worker& worker = *draft_.state().find_worker(id);
    const std::string& type = draft_.state().find_node(worker.node)->slot_type;
    const bool is_of_type =
        !claim.types || std::find(claim.types->begin(), claim.types->end(), type) != claim.types->end();
    if (is_of_type && beside.counts(worker)) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

void Preemption::add_workers(const TargetedJob& victim, SlotReservations& reservations) const {
  for (const WorkerId id : victim.job->membership.workers) reservations.add(*draft_.state().find_worker(id));
}

// One that ends sooner than it could be started again is not worth the change, unless for a higher priority.
bool Preemption::may_be_preempted(const Job& job, const Job& claimant) const {
  if (draft_.resizes(job.id) || preemption_barred(draft_, job)) return false;
  return claimant.spec.priority > job.spec.priority || !ends_soon(job, draft_.now());
}

// The claimant finds no room, and these would be preempted for it if they did not end soon.
template <class Helps>
void Preemption::note_missed(const Job& claimant, const Helps& helps) {
  for (const TargetedJob& each : ending_victims()) {
    const Job& job = *each.job;
    if (claimant.spec.priority > job.spec.priority || draft_.resizes(job.id) || !helps(job)) continue;
    if (!preemption_barred(draft_, job)) ending_[job.id].insert(claimant.id);
  }
}

void Preemption::look_at_victims(const SlotsFor& claimant, By by, const std::function<bool(const TargetedJob&)>& look) {
  if (by == By::kLimits && is_scarce()) {
    for (const TargetedJob& victim : by_shares(claimant)) {
      if (!look(victim)) return;
    }
    return;
  }
  for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
    if (!look(*victim)) return;
  }
}

std::vector<TargetedJob> Preemption::by_shares(const SlotsFor& claimant) {
  const std::vector<TargetedJob> victims(victims_.rbegin(), victims_.rend());
  std::vector<const Job*> jobs;
  jobs.reserve(victims.size());
  for (const TargetedJob& each : victims) jobs.push_back(each.job);
  std::vector<TargetedJob> ordered;
  for (const std::size_t at : VictimOrder(*draft_.state().tenants, planned(), limits()).of(jobs, claimant)) {
    ordered.push_back(victims[at]);
  }
  return ordered;
}

const SlotsByTenant& Preemption::planned() {
  if (planned_) return *planned_;
  planned_.emplace();
  for (const auto& [id, job] : draft_.state().jobs) {
    const Target* target = draft_.planned_target(*job);
    if (target == nullptr) continue;
    for (const Tenant* each : draft_.state().tenants->path_to(job->spec.tenant)) {
      (*planned_)[each->name] += target->size * job->spec.gpus_per_worker;
    }
  }
  return *planned_;
}

bool Preemption::is_scarce() {
  if (limits_.none() || !draft_.parts().tenants_share(draft_.state())) return false;
  const auto left = limits().left();
  return left && static_cast<std::size_t>(*left) < victims_.size();
}

bool Preemption::may_be_chosen(const Job& job, const SlotsFor& claimant, By by) {
  if (!may_be_preempted(job, claimant.job)) return false;
  if (by == By::kLimits) return limits().allow(claimant, job) && !refused_until(job, claimant);
  return !draft_.alters(job.id);
}

// The pool's limit leaves as many preemptions as these are beside those that a guarantee covers.
bool Preemption::is_within_limit(const std::vector<TargetedJob>& chosen, const SlotsFor& claimant, By by) {
  if (by == By::kNeed || limits_.none() || !limits().left()) return true;
  return std::count_if(chosen.begin(), chosen.end(), [&](const TargetedJob& each) {
           return !limits().covers(claimant, *each.job);
         }) <= *limits().left();
}

bool Preemption::is_held_up(const Job& claimant, const SlotClaim& claim) {
  const SlotReservations before = reservations();
  const bool would_fit = !choose({claimant, claim.slots()}, claim, By::kNeed).empty();
  reservations_.emplace(before);
  return would_fit;
}

std::optional<Reason> Preemption::why_held_up(const Job& claimant, int free) {
  if (limits_.none()) return std::nullopt;
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::optional<BarredUntil> first;
  JobId victim;
  for (const TargetedJob& each : victims_) {
    const bool is_of_use = !is_choosy(claimant.spec) || is_in_way(*each.job, claimant);
    if (!is_of_use || !may_be_chosen(*each.job, wanted, By::kNeed)) continue;
    const auto bar = bar_between(wanted, *each.job);
    if (!bar) return std::nullopt;
    if (first && first->until <= bar->until) continue;
    first = bar;
    victim = bar->by == PreemptionBar::kOften || bar->by == PreemptionBar::kRefused ? each.job->id : JobId();
  }
  if (!first) return std::nullopt;
  return reason_held_up(draft_.state(), wanted, free, {*first, victim});
}

// The last of the bars that are not lifted yet; none: the victim may be preempted.
std::optional<BarredUntil> Preemption::bar_between(const SlotsFor& claimant, const Job& victim) {
  std::optional<BarredUntil> last;
  if (!limits().allow(claimant, victim)) {
    last = limits().bar(claimant.job, victim);
    const BarredUntil pool{PreemptionBar::kPoolOften, limits().allows_one()};
    if (!last || last->until < pool.until) last = pool;
  }
  const auto refused = refused_until(victim, claimant);
  if (refused && (!last || last->until < *refused)) last = {PreemptionBar::kRefused, *refused};
  return last;
}

// A guarantee of a type is told no refusal, as little as any other, but for jobs of its own tenant.
bool Preemption::lets_refuse(const Job& victim, const SlotsFor& claim) {
  if (limits_.none() || !limits().lets_refuse(claim, victim)) return false;
  const bool is_own = victim.spec.tenant == claim.job.spec.tenant;
  return is_own || !draft_.type_guarantees().cover(claim.job, claim.slots);
}

std::optional<Instant> Preemption::refused_until(const Job& victim, const SlotsFor& claim) {
  const auto until = limits_.refused_until(victim);
  return until && lets_refuse(victim, claim) ? until : std::nullopt;
}

PreemptionLimits& Preemption::limits() {
  limits_.follow(draft_.plan());
  return limits_;
}

std::vector<TargetedJob> Preemption::to_ask(const std::vector<TargetedJob>& chosen, const SlotsFor& claim) {
  std::vector<TargetedJob> open;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(open), [&](const TargetedJob& each) {
    return lets_refuse(*each.job, claim) && !limits_.has_yielded(*each.job);
  });
  return open;
}

// Once one refuses the claim may take others, and those that have left would have left for nothing.
void Preemption::take(const std::vector<TargetedJob>& chosen, const SlotsFor& claim) {
  const std::vector<TargetedJob> open = to_ask(chosen, claim);
  for (const TargetedJob& each : open) ask(each, claim.job.id);
  for (const TargetedJob& victim : chosen) {
    if (open.empty()) preempt_for(draft_, *victim.job, claim.job.id);
    if (reservations_) add_workers(victim, *reservations_);
    const bool stays = !open.empty() && !draft_.alters(victim.job->id) && !limits_.awaits_answer(*victim.job);
    if (stays) keep_size(draft_, *victim.job, *victim.target, reason::Unclaimed{{.size = victim.job->size()}});
    std::erase_if(victims_, [&](const TargetedJob& each) { return each.job == victim.job; });
  }
  forget_sums();
}

// What it is asked already stands, for whichever job that was.
void Preemption::ask(const TargetedJob& victim, JobId claimant) {
  const Job& job = *victim.job;
  const bool is_asked = limits_.awaits_answer(job);
  const Instant until = is_asked ? job.preemption.asked->answer_by : draft_.now() + job.spec.elastic.grace;
  const reason::AskedToLeave why{.for_job = is_asked ? job.preemption.asked->for_job : claimant,
                                 .until_unix = utc_second_from(draft_.state(), until)};
  if (is_asked) return keep_size(draft_, job, *victim.target, why);
  draft_.conclude(job, AskIntent{.job = job.id, .for_job = claimant}, why, draft_.planned_target(job));
}

void Preemption::keep_the_others() {
  for (const auto& [job, target] : victims_) {
    const auto kept = why_kept(*job);
    keep_size(draft_, *job, *target, kept ? *kept : Reason(reason::Unclaimed{{.size = job->size()}}));
  }
}

std::optional<Reason> Preemption::why_kept(const Job& job) {
  if (is_missed(job)) return end_of(job);
  if (auto barred = preemption_barred(draft_, job)) return barred;
  if (const auto refused = limits_.refused_until(job)) {
    return reason::RefusesToLeave{.again_unix = utc_second_from(draft_.state(), *refused)};
  }
  const auto often = limits().bar_of(job);
  if (!often) return std::nullopt;
  const ChurnLimit& churn = *draft_.state().tenants->churn;
  const bool of_pool = often->by == PreemptionBar::kPoolOften;
  return reason::PreemptedOften{.pool = of_pool,
                                .limit = of_pool ? *churn.pool : *churn.per_job,
                                .window = churn.window,
                                .again_unix = utc_second_from(draft_.state(), often->until)};
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
