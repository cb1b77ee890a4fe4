#include "core/tenants/preemption_limits.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/first_after.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

constexpr std::int64_t kSecond = 1'000'000;  // in microseconds

// Until when the limit of `most` within a window is reached. `times`: ascending.
std::optional<Instant> full_until(const std::vector<Instant>& times, std::optional<int> most, Duration window) {
  if (!most || times.size() < static_cast<std::size_t>(*most)) return std::nullopt;
  return times[times.size() - static_cast<std::size_t>(*most)] + window;
}

void note(std::vector<Instant>& times, std::optional<int> most, Duration window, Instant at) {
  std::erase_if(times, [&](Instant time) { return time + window <= at; });
  if (!most) return times.clear();
  times.push_back(at);
  const auto kept = static_cast<std::size_t>(*most);
  if (times.size() > kept) times.erase(times.begin(), times.end() - static_cast<std::ptrdiff_t>(kept));
}

std::optional<Instant> preemptible_from(const ClusterState& state, const Job& job) {
  const auto& churn = state.tenants->churn;
  return churn ? full_until(job.preemption.times, churn->per_job, churn->window) : std::nullopt;
}

std::optional<Instant> refusal_until(const ClusterState& state, const Job& job, Instant now) {
  const auto& until = job.preemption.refused_until;
  const bool holds = until && *until > now && state.tenants->notice_refusal_of(job.spec.tenant) > Duration();
  return holds ? until : std::nullopt;
}

// After the time to answer: a job that has not refused is preempted without another question.
constexpr Duration kAnswerStands = Duration::seconds(60);

}  // namespace

Instant waits_since(const Job& job) {
  if (job.state() == JobState::kPending) return job.preemption.pending_since.value_or(job.submitted_at);
  const Instant started = job.last_start_at.value_or(job.submitted_at);
  return job.last_resize_at ? std::max(started, *job.last_resize_at) : started;
}

Instant may_preempt_from(const ClusterState& state, const Job& job) {
  return waits_since(job) + state.tenants->preempt_after_of(job.spec.tenant);
}

bool may_spare(const TenantTree& tree) {
  const bool limits_each = tree.churn && tree.churn->per_job;
  return limits_each || std::any_of(tree.tenants.begin(), tree.tenants.end(), [](const Tenant& any) {
           return any.notice_refusal.value_or(Duration()) > Duration();
         });
}

bool is_spared(const ClusterState& state, const Job& job, Instant now) {
  const auto again = preemptible_from(state, job);
  return (again && *again > now) || refusal_until(state, job, now);
}

std::optional<Instant> next_preemption_due(const ClusterState& state, const Job& job, Instant after) {
  FirstAfter first(after);
  const bool lacks_slots = job.planned && job.planned->target.size > job.size();
  if (lacks_slots) first.consider(may_preempt_from(state, job));
  if (is_active(job.state())) {
    first.consider(preemptible_from(state, job));
    first.consider(job.preemption.refused_until);
    if (job.preemption.asked) first.consider(job.preemption.asked->answer_by);
  }
  return first.found();
}

std::optional<Instant> next_churn_due(const ClusterState& state, std::optional<Instant> after) {
  FirstAfter first(after);
  const auto& churn = state.tenants->churn;
  if (!churn || !churn->pool) return std::nullopt;
  for (const Instant time : state.preempted_at) first.consider(time + churn->window);
  return first.found();
}

void count_preemption(ClusterState& state, Job& victim, Instant at) {
  const auto& churn = state.tenants->churn;
  note(victim.preemption.times, churn ? churn->per_job : std::nullopt, churn ? churn->window : Duration(), at);
  note(state.preempted_at, churn ? churn->pool : std::nullopt, churn ? churn->window : Duration(), at);
}

Reason reason_held_up(const ClusterState& state, const SlotsFor& claim, int free, const HeldUpBy& by) {
  const std::int64_t until = utc_second_from(state, by.bar.until);
  if (by.bar.by == PreemptionBar::kClaimantWaits) {
    return reason::PreemptsLater{.needed = claim.slots,
                                 .free = free,
                                 .since_unix = utc_us(state, waits_since(claim.job)) / kSecond,
                                 .from_unix = until};
  }
  if (by.bar.by == PreemptionBar::kRefused) {
    return reason::PreemptionRefused{.needed = claim.slots, .free = free, .job = by.victim, .again_unix = until};
  }
  const ChurnLimit& churn = *state.tenants->churn;
  return reason::PreemptionLimit{.needed = claim.slots,
                                 .free = free,
                                 .job = by.victim,
                                 .limit = by.victim ? *churn.per_job : *churn.pool,
                                 .window = churn.window,
                                 .again_unix = until};
}

PreemptionLimits::PreemptionLimits(const ClusterState& state, Instant now)
    : state_(state), now_(now), none_(!state.tenants->limits_preemption()) {
  const auto& churn = state.tenants->churn;
  if (!churn || !churn->pool) return;
  std::copy_if(state.preempted_at.begin(), state.preempted_at.end(), std::back_inserter(pool_),
               [&](Instant time) { return time + churn->window > now; });
}

void PreemptionLimits::follow(const Plan& plan) {
  if (state_.tenants->empty() && none_) return;
  for (; followed_ < plan.size(); ++followed_) {
    const Intent& intent = plan[followed_].intent;
    const auto* preempted = std::get_if<PreemptIntent>(&intent);
    if (preempted != nullptr && preempted->for_job) pool_.push_back(now_);
    const Job& job = *state_.find_job(job_of(intent));
    auto workers = static_cast<std::int64_t>(joining_workers_of(intent).size());
    for (const WorkerId id : workers_freed_by(state_, intent)) {
      const Worker& worker = *state_.find_worker(id);
      const bool was_kept = !worker.is_gone() && !is_on_its_way_out(job, worker);
      if (leaving_workers_.insert(id) && was_kept) --workers;
    }
    if (workers != 0) given_.emplace_back(job.spec.tenant, workers * job.spec.gpus_per_worker);
  }
}

void PreemptionLimits::keep_for(const SlotsFor& claim) {
  if (!state_.tenants->empty()) given_.emplace_back(claim.job.spec.tenant, claim.slots);
}

GuaranteeRoom& PreemptionLimits::room() {
  if (!room_) room_.emplace(state_);
  for (const auto& [tenant, slots] : given_) room_->add(tenant, slots);
  given_.clear();
  return *room_;
}

bool PreemptionLimits::covers(const SlotsFor& claim, const Job& victim) {
  return claim.slots <= room().beside(claim.job.spec.tenant, victim.spec.tenant);
}

int PreemptionLimits::covered(const Job& claimant) {
  return static_cast<int>(room().beside(claimant.spec.tenant, ""));
}

std::int64_t PreemptionLimits::held(const std::string& tenant) {
  return room().held(tenant);
}

std::optional<BarredUntil> PreemptionLimits::bar(const Job& claimant, const Job& victim) const {
  std::optional<BarredUntil> last;
  if (const Instant from = may_preempt_from(state_, claimant); from > now_) {
    last = {PreemptionBar::kClaimantWaits, from};
  }
  const auto again = preemptible_from(state_, victim);
  if (again && *again > now_ && (!last || *again > last->until)) last = {PreemptionBar::kOften, *again};
  return last;
}

std::optional<int> PreemptionLimits::left() const {
  const auto& churn = state_.tenants->churn;
  if (!churn || !churn->pool) return std::nullopt;
  return std::max(0, *churn->pool - static_cast<int>(pool_.size()));
}

Instant PreemptionLimits::allows_one() const {
  const auto& churn = state_.tenants->churn;
  const auto full = churn ? full_until(pool_, churn->pool, churn->window) : std::nullopt;
  return std::max(now_, full.value_or(now_));
}

bool PreemptionLimits::allow(const SlotsFor& claim, const Job& victim) {
  if (none_ || covers(claim, victim)) return true;
  return left().value_or(1) > 0 && !bar(claim.job, victim);
}

bool PreemptionLimits::allows_refusal(const SlotsFor& claim, const Job& victim) {
  if (none_ || victim.spec.elastic.grace == Duration()) return false;
  if (state_.tenants->notice_refusal_of(victim.spec.tenant) == Duration()) return false;
  const auto& members = victim.membership.members;
  const bool hears = std::any_of(members.begin(), members.end(), [&](WorkerId id) {
    return state_.find_node(state_.find_worker(id)->node)->gives_notice;
  });
  return hears && !covers(claim, victim);
}

std::optional<Instant> PreemptionLimits::refused_until(const Job& victim) const {
  return refusal_until(state_, victim, now_);
}

bool PreemptionLimits::awaits_answer(const Job& victim) const {
  const auto& asked = victim.preemption.asked;
  return asked && !asked->yields && now_ < asked->answer_by;
}

bool PreemptionLimits::has_yielded(const Job& victim) const {
  const auto& asked = victim.preemption.asked;
  return asked && !awaits_answer(victim) && now_ < asked->answer_by + kAnswerStands;
}

std::optional<BarredUntil> PreemptionLimits::bar_of(const Job& victim) const {
  if (none_) return std::nullopt;
  const auto again = preemptible_from(state_, victim);
  const Instant pool = allows_one();
  const bool own = again && *again > now_;
  if (pool > now_ && (!own || pool > *again)) return BarredUntil{PreemptionBar::kPoolOften, pool};
  if (own) return BarredUntil{PreemptionBar::kOften, *again};
  return std::nullopt;
}

}  // namespace tidepool::core
