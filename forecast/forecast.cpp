#include "forecast/forecast.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/first_after.hpp"
#include "base/id_set.hpp"
#include "core/engine/engine.hpp"
#include "core/state/account.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/adjusted_reason.hpp"
#include "forecast/forward_pools.hpp"
#include "forecast/forward_world.hpp"
#include "forecast/freed_slots.hpp"

namespace tidepool::forecast {
namespace {

constexpr int kRoundsMax = 8;                           // of decisions at a time, as in a turn of the daemon
constexpr Duration kWakeAgain = Duration::millis(100);  // a due time that has come without a change must not stop it
constexpr std::size_t kSizesMost = 16;                  // that are told of a job

constexpr Duration kNever = Duration::seconds(10 * 365 * 86'400);

// Nothing fails, so nothing is given up for taking longer than its operator has patience.
core::EngineParts parts_for(core::EngineParts parts, const Limits& limits) {
  parts.file_policy = nullptr;
  parts.config.start_timeout = parts.config.switch_timeout = kNever;
  parts.config.plan_every = std::max(parts.config.plan_every, limits.plan_every);
  return parts;
}

// Of the facts of a forecast; none: it is about a node.
JobId job_of(const core::ClusterState& state, const core::Fact& fact) {
  return std::visit(
      [&](const auto& any) -> JobId {
        using Kind = std::decay_t<decltype(any)>;
        if constexpr (requires { requires std::is_same_v<decltype(Kind::job), JobId>; }) {
          return any.job;
        } else if constexpr (requires { any.worker; }) {
          const core::Worker* worker = state.find_worker(any.worker);
          return worker == nullptr ? JobId() : worker->job;
        } else {
          return {};
        }
      },
      fact);
}

// A budget takes slots of it, or ends it; it has neither ended by itself nor been cancelled.
bool loses_by_hold(const core::Job& job) {
  if (!job.hold || job.requests.cancel || job.progress.finished) return false;
  if (job.hold->action == core::BudgetAction::kShrink) return job.size() > job.spec.elastic.sizes.front();
  const bool is_stopped = job.state() == core::JobState::kCancelled && job.hold->action == core::BudgetAction::kStop;
  return is_stopped || !job.membership.workers.empty();
}

BudgetEffect effect_of(const core::BudgetHold& hold, Instant at) {
  return {.at = at, .tenant = hold.tenant, .action = hold.action};
}

// One forecast as it is made.
class Run {
 public:
  Run(const core::EngineParts& parts, const core::ClusterState& state, Instant now, const Limits& limits)
      : limits_(limits),
        now_(std::max(now, state.now)),
        expectations_(state),
        engine_(parts, state),
        world_(expectations_, limits.report_every) {
    made_.at = now_;
    made_.policy = parts.active_policy_name(state);
    if (const auto& file = state.deployment.active) made_.unasked_policy = core::short_name(*file);
    for (const auto& [id, job] : state.jobs) {
      if (!core::is_final(job->state())) begin(*job);
    }
  }

  Forecast make() {
    for (const auto& [id, job] : made_.jobs) world_.follow(engine_.view(), id, now_);
    const Instant end = now_ + limits_.horizon;
    while (decide() && !open_.empty()) {
      const auto next = next_at();
      if (!next || *next > end) {
        now_ = end;
        break;
      }
      now_ = std::max(now_, *next);
      learn();
    }
    return finish();
  }

 private:
  void begin(const core::Job& job) {
    JobForecast& told = made_.jobs[job.id];
    note_hold(job, told);
    told.basis = expectations_.work(job.id).basis;
    told.waits = job.membership.workers.empty();
    told.cost = core::account_at(engine_.view(), job, now_).cost;
    told.sizes.push_back({now_, job.membership.switched ? job.size() : 0});
    if (told.sizes.back().size == 0) not_started_.insert(job.id);
    if (job.state() != core::JobState::kSuspended) open_.insert(job.id);
  }

  // False: no further.
  bool decide() {
    for (int round = 0; round < kRoundsMax; ++round) {
      const core::Decision decision = engine_.decide(now_);
      // Dropped, as in a daemon; what happens next may lead to another.
      if (const Status lawful = engine_.validate(decision); !lawful.ok()) {
        if (made_.error.empty()) made_.error = lawful.error().message;
        ++made_.events;
        return has_events_left();
      }
      (void)engine_.accept(decision);
      ++made_.events;
      if (!has_events_left()) return false;
      note_ended();
      for (const core::PlannedIntent& planned : decision.plan) {
        note_taken(planned);
        note_start(planned.intent);
        follow(core::job_of(planned.intent));
      }
      if (!decision.nodes.empty() || round == 0) pools_.follow(engine_.view(), now_);
      if (decision.empty()) break;
    }
    return true;
  }

  void learn() {
    const auto is_due = [&](const std::optional<Instant>& at) { return at && *at <= now_; };
    while (is_due(world_.next_at()) && has_events_left()) learn(world_.take(engine_.view(), now_));
    while (is_due(pools_.next_at()) && has_events_left()) learn(pools_.take(engine_.view()));
    if (is_due(engine_.clock_due()) && has_events_left()) learn({core::ClockAdvanced{}});
  }

  void learn(const std::vector<core::Fact>& facts) {
    for (const core::Fact& fact : facts) {
      const JobId job = job_of(engine_.view(), fact);
      if (const auto* exited = std::get_if<core::WorkerExited>(&fact))
        freed_.note(engine_.view(), exited->worker, now_);
      // What contradicts the state is refused and changes nothing, as in a daemon.
      const auto stepped = engine_.step({.at = now_, .fact = fact});
      ++made_.events;
      if (!stepped.ok()) continue;
      note_ended();
      if (job) follow(job);
      if (!job) follow_all();
    }
  }

  void follow_all() {
    for (const auto& [id, told] : made_.jobs) {
      if (engine_.view().find_job(id) != nullptr) follow(id);
    }
  }

  void follow(JobId id) {
    world_.follow(engine_.view(), id, now_);
    const core::Job* job = engine_.view().find_job(id);
    const auto found = made_.jobs.find(id);
    if (job == nullptr || found == made_.jobs.end()) return;
    JobForecast& told = found->second;
    note_hold(*job, told);
    if (core::is_final(job->state())) end(*job, told);
    const bool holds = !job->membership.members.empty();
    if (!holds || job->membership.switched) note_size(id, told, job->size());
    if (holds && job->membership.switched && not_started_.erase(id)) {
      told.start = now_;
      if (const auto after = starts_after_.find(id); after != starts_after_.end()) told.starts_after = after->second;
      told.start_fixed = fixed_by_now(id);
      told.start_basis = worst_ended_;
    }
  }

  void note_size(JobId id, JobForecast& told, int size) {
    const int before = told.sizes.back().size;
    if (before == size) return;
    SizeFrom from{now_, size};
    const auto taken = taken_for_.find(id);
    if (size < before && taken != taken_for_.end()) from.taken_for = taken->second;
    const core::Job* job = engine_.view().find_job(id);
    const bool by_budget = size < before && !from.taken_for.for_job && job != nullptr && job->hold;
    if (by_budget) from.by_budget = effect_of(*job->hold, now_);
    taken_for_.erase(id);
    if (told.sizes.size() < kSizesMost) told.sizes.push_back(std::move(from));
  }

  // A smaller size follows, at once or with the next switch.
  void note_taken(const core::PlannedIntent& planned) {
    core::reason::Claimants claimants;
    if (const auto* preempts = std::get_if<core::PreemptIntent>(&planned.intent)) {
      if (preempts->for_job) claimants.for_job = preempts->for_job;
    } else if (std::holds_alternative<core::ShrinkIntent>(planned.intent)) {
      claimants = core::claimants_in(planned.reason);
    } else {
      return;
    }
    taken_for_[core::job_of(planned.intent)] = claimants;
  }

  void note_start(const core::Intent& intent) {
    const auto* start = std::get_if<core::StartIntent>(&intent);
    if (start == nullptr) return;
    starts_after_.erase(start->job);
    if (const auto job = made_.jobs.find(start->job); job != made_.jobs.end()) note_slots(start->job, job->second);
    if (const auto by = freed_.taken_by(*start, now_)) starts_after_[start->job] = *by;
  }

  void note_slots(JobId id, JobForecast& told) {
    if (!told.waits || told.slots_at) return;
    told.slots_at = now_;
    told.start_fixed = fixed_by_now(id);
    told.start_basis = worst_ended_;
  }

  void end(const core::Job& job, JobForecast& told) {
    if (told.end) return;
    note_hold(job, told);
    told.end = job.phase.ended_at();
    told.end_fixed = fixed_by_now(job.id);
    told.outcome = job.state();
    told.cost = job.account.cost;
    taken_for_.erase(job.id);
    note_size(job.id, told, 0);
    worst_ended_ = std::max(worst_ended_, told.basis);
    open_.erase(job.id);
  }

  void note_hold(const core::Job& job, JobForecast& told) {
    if (core::is_withheld(job)) held_until_[job.id] = core::at_utc(engine_.view(), job.hold->window_ends_us);
    if (!loses_by_hold(job) || (told.budget && told.budget->action >= job.hold->action)) return;
    told.budget = effect_of(*job.hold, now_);
  }

  // The end of the newest window that it has waited for, if it has.
  [[nodiscard]] std::optional<Instant> fixed_by_now(JobId id) const {
    const auto found = held_until_.find(id);
    return found == held_until_.end() || found->second > now_ ? std::nullopt : std::optional(found->second);
  }

  void note_ended() {
    for (const auto& job : engine_.take_ended()) {
      if (const auto found = made_.jobs.find(job->id); found != made_.jobs.end()) end(*job, found->second);
    }
  }

  [[nodiscard]] std::optional<Instant> next_at() const {
    FirstAfter first;
    first.consider(world_.next_at());
    first.consider(pools_.next_at());
    if (const auto due = engine_.next_due()) first.consider(std::max(*due, now_ + kWakeAgain));
    return first.found();
  }

  [[nodiscard]] bool has_events_left() const { return made_.events < limits_.events_most; }

  Forecast finish() {
    made_.until = now_;
    made_.cut_short = !has_events_left();
    for (auto& [id, told] : made_.jobs) {
      const core::Job* job = engine_.view().find_job(id);
      if (!told.end && job != nullptr) told.cost = core::account_at(engine_.view(), *job, now_).cost;
    }
    return std::move(made_);
  }

  Limits limits_;
  Instant now_;
  Expectations expectations_;
  core::Engine engine_;
  ForwardWorld world_;
  ForwardPools pools_;
  Forecast made_;
  IdTable<JobId, Instant> held_until_;  // by budgets, the newest time
  FreedSlots freed_;
  IdTable<JobId, FreedBy> starts_after_;               // of the newest start, which may still boot
  IdTable<JobId, core::reason::Claimants> taken_for_;  // of the newest decision that takes slots of it
  IdSet<JobId> not_started_;
  IdSet<JobId> open_;  // that may end
  Basis worst_ended_ = Basis::kDeclared;
};

}  // namespace

Forecast forecast(core::EngineParts parts, const core::ClusterState& state, Instant now, const Limits& limits) {
  return Run(parts_for(std::move(parts), limits), state, now, limits).make();
}

}  // namespace tidepool::forecast
