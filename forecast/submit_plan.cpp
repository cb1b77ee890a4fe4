#include "forecast/submit_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/engine/engine.hpp"

namespace tidepool::forecast {
namespace {

using Change = SubmitPlan::Change;
using Effect = SubmitPlan::Effect;

// A delay that is less than this, or than a hundredth of the time to go, is not told.
constexpr Duration kTellLeast = Duration::seconds(10);
constexpr std::int64_t kTellShare = 100;

int size_at(const std::vector<SizeFrom>& sizes, Instant at) {
  int size = 0;
  for (const SizeFrom& from : sizes) {
    if (from.at <= at) size = from.size;
  }
  return size;
}

struct Less {
  Instant at;
  int from = 0;
  int to = 0;
  core::reason::Claimants taken_for;
  std::optional<BudgetEffect> by_budget;
};

// When the job first has fewer workers than it would have had, and while it would not have ended.
std::optional<Less> first_less(const JobForecast& without, const JobForecast& with) {
  for (const SizeFrom& from : with.sizes) {
    const int before = size_at(without.sizes, from.at);
    if (from.size < before && (!with.end || from.at < *with.end)) {
      return Less{from.at, before, from.size, from.taken_for, from.by_budget};
    }
  }
  return std::nullopt;
}

// What a budget does to the job by reason of the submission: it does not do that without it, or later.
std::optional<BudgetEffect> spent_sooner(const JobForecast& without, const JobForecast& with) {
  const auto& before = without.budget;
  if (!with.budget || (before && before->action == with.budget->action && before->at <= with.budget->at)) {
    return std::nullopt;
  }
  return with.budget;
}

std::optional<Duration> moved(const std::optional<Instant>& without, const std::optional<Instant>& with) {
  return without && with ? std::optional(*with - *without) : std::nullopt;
}

bool is_told(const std::optional<Duration>& by, const std::optional<Instant>& when, Instant now) {
  if (!by) return false;
  const Duration size = std::max(*by, Duration() - *by);
  return size >= kTellLeast && when && size * kTellShare >= *when - now;
}

// A budget ends the job, and does not without the submission, or later.
void end_by_budget(Change& change, const JobForecast& without, const JobForecast& with) {
  change.effect = Effect::kEnded;
  change.at = with.end;
  change.from = size_at(without.sizes, *with.end);
  change.budget = with.budget;
  if (without.basis == Basis::kUnknown && !without.is_stopped()) change.end_by = std::nullopt;  // its end is a guess
}

std::optional<Change> change_of(JobId id, const JobForecast& without, const JobForecast& with, Instant now) {
  Change change{.job = id,
                .effect = Effect::kLater,
                .start_by = moved(without.start, with.start),
                .end_by = moved(without.end, with.end)};
  const bool starts_elsewhen = is_told(change.start_by, without.start, now);
  const bool ends_elsewhen = is_told(change.end_by, without.end, now);
  const auto budget = spent_sooner(without, with);
  if (budget && with.is_stopped() && (!without.is_stopped() || ends_elsewhen)) {
    end_by_budget(change, without, with);
    return change;
  }
  if (const auto less = first_less(without, with); less && !with.waits) {
    change.effect = less->to == 0 ? Effect::kPreempted : Effect::kShrunk;
    change.at = less->at;
    change.from = less->from;
    change.to = less->to;
    change.taken_for = less->taken_for;
    change.budget = less->by_budget;
    return change;
  }
  const bool is_lost = (without.end && !with.end) || (without.start && !with.start);
  if (!is_lost && !starts_elsewhen && !ends_elsewhen) return std::nullopt;
  if (is_lost) change.start_by = change.end_by = std::nullopt;  // what is known still would seem all that changes
  const Duration by = is_lost ? Duration() : ends_elsewhen ? *change.end_by : *change.start_by;
  if (by < Duration()) change.effect = Effect::kSooner;
  return change;
}

}  // namespace

const char* to_text(SubmitPlan::Effect effect) {
  switch (effect) {
    case Effect::kEnded: return "ended";
    case Effect::kPreempted: return "preempted";
    case Effect::kShrunk: return "shrunk";
    case Effect::kLater: return "later";
    case Effect::kSooner: return "sooner";
  }
  return "later";
}

Result<SubmitPlan> plan_submit(const core::EngineParts& parts, const core::ClusterState& state,
                               const SubmitAsked& asked, const Calibration& calibration) {
  const Instant now = std::max(asked.now, state.now);
  core::Engine engine(parts, state);
  SubmitPlan plan{.state = {}, .job = engine.next_job_id(), .told = {}, .changes = {}};
  const auto stepped = engine.step({.at = now, .fact = core::JobSubmitted{plan.job, asked.spec}});
  if (!stepped.ok()) return stepped.error();
  plan.state = engine.view();
  const Forecast without = forecast(parts, state, now, asked.limits);
  const Forecast with = forecast(parts, plan.state, now, asked.limits);
  plan.told = tell(plan.state, with, calibration);
  for (const auto& [id, before] : without.jobs) {
    const auto after = with.jobs.find(id);
    if (after == with.jobs.end()) continue;
    if (const auto change = change_of(id, before, after->second, now)) plan.changes.push_back(*change);
  }
  return plan;
}

}  // namespace tidepool::forecast
