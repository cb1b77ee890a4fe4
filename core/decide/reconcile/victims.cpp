#include "core/decide/reconcile/victims.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {

SlotReservations& Victims::reservations() {
  if (!reservations_) reservations_.emplace(draft_, releasing_);
  return *reservations_;
}

void Victims::close(const std::vector<std::string>& slot_types) {
  if (reservations_) reservations_->close(slot_types);
}

void Victims::close_for(const Job& job) {
  if (reservations_) reservations_->close_for(job);
}

void Victims::add(const TargetedJob& victim) {
  jobs_.push_back(victim);
  forget_sums();
}

// Each keeps to the places in the order that jobs like it have.
void Victims::keep_unsaved() {
  const auto loses = [](const TargetedJob& each) { return loses_work(*each.job); };
  if (std::none_of(jobs_.begin(), jobs_.end(), loses)) return;
  const std::vector<TargetedJob> before = jobs_;
  std::map<std::pair<std::string, int>, std::vector<std::size_t>> alike;
  for (std::size_t at = 0; at < jobs_.size(); ++at) {
    const JobSpec& spec = jobs_[at].job->spec;
    alike[{spec.tenant, spec.priority}].push_back(at);
  }
  for (const auto& [key, places] : alike) {
    std::size_t next = 0;
    for (const bool lost : {true, false}) {
      for (const std::size_t at : places) {
        if (loses(before[at]) == lost) jobs_[places[next++]] = before[at];
      }
    }
  }
}

void Victims::forget_sums() {
  slots_of_type_.reset();
  ending_jobs_.reset();
}

int Victims::slots_of_type(const std::string& type) {
  if (!slots_of_type_) {
    slots_of_type_.emplace();
    for (const TargetedJob& victim : jobs_) {
      for (const WorkerId id : victim.job->membership.workers) {
        const Worker& worker = *draft_.state().find_worker(id);
        (*slots_of_type_)[draft_.state().find_node(worker.node)->slot_type] += static_cast<int>(worker.slots.size());
      }
    }
  }
  const auto held = slots_of_type_->find(type);
  return held == slots_of_type_->end() ? 0 : held->second;
}

const std::vector<TargetedJob>& Victims::ending_jobs() {
  if (!ending_jobs_) {
    ending_jobs_.emplace();
    std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(*ending_jobs_),
                 [&](const TargetedJob& each) { return ends_soon(*each.job, draft_.now()); });
  }
  return *ending_jobs_;
}

bool Victims::is_in_way(const Job& job, const Job& claimant) const {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(), [&](WorkerId id) {
    return may_run_on(claimant, *draft_.state().find_node(draft_.state().find_worker(id)->node));
  });
}

void Victims::add_workers(const TargetedJob& victim, SlotReservations& reservations) const {
  for (const WorkerId id : victim.job->membership.workers) reservations.add(*draft_.state().find_worker(id));
}

// One that ends sooner than it could be started again is not worth the change, unless for a higher priority.
bool Victims::may_be_preempted(const Job& job, const SlotsFor& claimant) {
  if (draft_.resizes(job.id) || preemption_barred(draft_, job)) return false;
  if (!can_change(draft_, job)) return limits().covers(claimant, job);
  return claimant.job.spec.priority > job.spec.priority || !ends_soon(job, draft_.now());
}

bool Victims::may_be_chosen(const Job& job, const SlotsFor& claimant, By by) {
  if (!may_be_preempted(job, claimant)) return false;
  if (by == By::kLimits) return limits().allow(claimant, job) && !refused_until(job, claimant);
  return !draft_.alters(job.id);
}

// The pool's limit allows these preemptions in addition to those that a guarantee covers.
bool Victims::is_within_limit(const std::vector<TargetedJob>& chosen, const SlotsFor& claimant, By by) {
  if (by == By::kNeed || limits_.none() || !limits().left()) return true;
  return std::count_if(chosen.begin(), chosen.end(), [&](const TargetedJob& each) {
           return !limits().covers(claimant, *each.job);
         }) <= *limits().left();
}

void Victims::look_at(const SlotsFor& claimant, By by, const std::function<bool(const TargetedJob&)>& look) {
  if (by == By::kLimits && is_scarce()) {
    for (const TargetedJob& victim : by_shares(claimant)) {
      if (!look(victim)) return;
    }
    return;
  }
  for (auto victim = jobs_.rbegin(); victim != jobs_.rend(); ++victim) {
    if (!look(*victim)) return;
  }
}

bool Victims::is_scarce() {
  if (limits_.none() || !draft_.parts().tenants_share(draft_.state())) return false;
  const auto left = limits().left();
  return left && static_cast<std::size_t>(*left) < jobs_.size();
}

std::vector<TargetedJob> Victims::by_shares(const SlotsFor& claimant) {
  const std::vector<TargetedJob> victims(jobs_.rbegin(), jobs_.rend());
  std::vector<const Job*> jobs;
  jobs.reserve(victims.size());
  for (const TargetedJob& each : victims) jobs.push_back(each.job);
  std::vector<TargetedJob> ordered;
  for (const std::size_t at : VictimOrder(*draft_.state().tenants, planned(), limits()).of(jobs, claimant)) {
    ordered.push_back(victims[at]);
  }
  return ordered;
}

const SlotsByTenant& Victims::planned() {
  if (planned_) return *planned_;
  planned_.emplace();
  for (const auto& [id, job] : draft_.state().jobs) {
    const Target* target = draft_.planned_target(*job);
    if (target == nullptr) continue;
    for (const Tenant* each : draft_.state().tenants->path_to(job->spec.tenant)) {
      (*planned_)[each->name] += std::int64_t{target->size} * job->spec.gpus_per_worker;
    }
  }
  return *planned_;
}

void Victims::note_missed(const Job& claimant, const std::function<bool(const Job&)>& helps) {
  for (const TargetedJob& each : ending_jobs()) {
    const Job& job = *each.job;
    if (claimant.spec.priority > job.spec.priority || draft_.resizes(job.id) || !helps(job)) continue;
    if (!preemption_barred(draft_, job)) ending_[job.id].insert(claimant.id);
  }
}

PreemptionLimits& Victims::limits() {
  limits_.follow(draft_.plan());
  return limits_;
}

std::optional<Reason> Victims::why_held_up(const Job& claimant, int free) {
  if (limits_.none()) return std::nullopt;
  const SlotsFor wanted{claimant, claimant.spec.smallest_slots()};
  std::optional<BarredUntil> first;
  JobId victim;
  for (const TargetedJob& each : jobs_) {
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
std::optional<BarredUntil> Victims::bar_between(const SlotsFor& claimant, const Job& victim) {
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

// A claim within a guarantee of a type accepts no refusal, except from jobs of its own tenant.
bool Victims::allows_refusal(const Job& victim, const SlotsFor& claim) {
  if (limits_.none() || !limits().allows_refusal(claim, victim)) return false;
  const bool is_own = victim.spec.tenant == claim.job.spec.tenant;
  return is_own || !draft_.type_guarantees().cover(claim.job, claim.slots);
}

std::optional<Instant> Victims::refused_until(const Job& victim, const SlotsFor& claim) {
  const auto until = limits_.refused_until(victim);
  return until && allows_refusal(victim, claim) ? until : std::nullopt;
}

std::vector<TargetedJob> Victims::to_ask(const std::vector<TargetedJob>& chosen, const SlotsFor& claim) {
  std::vector<TargetedJob> open;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(open), [&](const TargetedJob& each) {
    return allows_refusal(*each.job, claim) && !limits_.has_yielded(*each.job);
  });
  return open;
}

// Once one refuses the claim may take others, and those that have left would have left for nothing.
void Victims::take(const std::vector<TargetedJob>& chosen, const SlotsFor& claim) {
  const std::vector<TargetedJob> open = to_ask(chosen, claim);
  for (const TargetedJob& each : open) ask(each, claim.job.id);
  for (const TargetedJob& victim : chosen) {
    if (open.empty()) preempt_for(draft_, *victim.job, claim.job.id);
    if (reservations_) add_workers(victim, *reservations_);
    const bool stays = !open.empty() && !draft_.alters(victim.job->id) && !limits_.awaits_answer(*victim.job);
    if (stays) keep_size(draft_, *victim.job, *victim.target, reason::Unclaimed{{.size = victim.job->size()}});
    std::erase_if(jobs_, [&](const TargetedJob& each) { return each.job == victim.job; });
  }
  forget_sums();
}

// What it is asked already stands, for whichever job that was.
void Victims::ask(const TargetedJob& victim, JobId claimant) {
  const Job& job = *victim.job;
  const bool is_asked = limits_.awaits_answer(job);
  const Instant until = is_asked ? job.preemption.asked->answer_by : draft_.now() + job.spec.elastic.grace;
  const reason::AskedToLeave why{.for_job = is_asked ? job.preemption.asked->for_job : claimant,
                                 .until_unix = utc_second_from(draft_.state(), until)};
  if (is_asked) return keep_size(draft_, job, *victim.target, why);
  draft_.conclude(job, AskIntent{.job = job.id, .for_job = claimant}, why, draft_.planned_target(job));
}

bool Victims::may_leave_unclaimed(const Job& job) {
  return can_change(draft_, job) && !draft_.alters(job.id) && !ends_soon(job, draft_.now()) && !why_kept(job);
}

void Victims::end_unclaimed(const Job& job, const Reason& reason) {
  preempt(draft_, job, reason, draft_.planned_target(job));
  std::erase_if(jobs_, [&](const TargetedJob& each) { return each.job == &job; });
  forget_sums();
}

void Victims::keep_the_others() {
  for (const auto& [job, target] : jobs_) {
    const auto kept = why_kept(*job);
    keep_size(draft_, *job, *target, kept ? *kept : Reason(reason::Unclaimed{{.size = job->size()}}));
  }
}

std::optional<Reason> Victims::why_kept(const Job& job) {
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
bool Victims::is_missed(const Job& job) const {
  const auto found = ending_.find(job.id);
  if (found == ending_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](JobId id) {
    return !draft_.changed(id) && !waits_for_state(draft_, *draft_.state().find_job(id));
  });
}

// Of a job that ends soon.
Reason Victims::end_of(const Job& job) const {
  const Duration left = std::max(Duration(), *expected_end(job) - draft_.now());
  return reason::EndsSoon{{.left = left}};
}

}  // namespace tidepool::core
