#include "forecast/forecast_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/state/account.hpp"

namespace tidepool::forecast {
namespace {

// What is spent from now on is spent in proportion to the time until the end.
Money cost_at(Money now, Money at_end, Duration until_end, Duration until) {
  if (until_end <= Duration()) return at_end;
  const double share = until.to_seconds() / until_end.to_seconds();
  const double more = static_cast<double>((at_end - now).count_micros()) * share;
  return now + Money::micros(std::llround(std::min(more, 9e15)));
}

// A job does not end before it starts: one that would goes on from there for as long as it steps, set right as its end
// is. `from`: from when on that may be off.
Expected after(const Expected& end, const JobForecast& made, const std::optional<Expected>& start, Instant from) {
  if (!start || !made.start) return end;
  Instant at = end.at;
  if (const double left = (*made.end - from).to_seconds(); at <= start->at && left > 0) {
    const double share = std::clamp((*made.end - *made.start).to_seconds() / left, 0.0, 1.0);
    at = start->at + Duration::from_seconds((end.at - from).to_seconds() * share);
  }
  at = std::max(at, start->at);
  return {std::max(end.early, start->early), at, std::max({end.late, start->late, at})};
}

// From when on a forecast can be off.
Instant fixed_or(const std::optional<Instant>& fixed, Instant now) {
  return fixed ? std::max(now, *fixed) : now;
}

// Not after it starts, and not before the forecast begins.
Instant slots_as_told(const JobReport& told, const JobForecast& made, Instant now, const Calibration& calibration) {
  const Instant from = std::min(*made.slots_at, fixed_or(made.start_fixed, now));
  const Instant at = calibration.expect(Moment::kStart, made.start_basis, from, *made.slots_at).at;
  return told.start ? std::min(at, told.start->at) : at;
}

// It moves with the start, as sizes do; an end by it is told already.
BudgetEffect budget_as_told(const JobReport& told, const JobForecast& made) {
  BudgetEffect effect = *made.budget;
  if (told.end && made.is_stopped()) {
    effect.at = told.end->at;
  } else if (told.start && effect.at >= *made.start) {
    effect.at = effect.at + (told.start->at - *made.start);
  }
  return effect;
}

JobReport tell_job(Money spent, const JobForecast& made, const Forecast& of, const Calibration& calibration) {
  JobReport told{.basis = made.basis, .start_basis = made.start_basis};
  if (made.start) {
    told.start = calibration.expect(Moment::kStart, made.start_basis, fixed_or(made.start_fixed, of.at), *made.start);
    told.starts_after = made.starts_after;
  }
  if (made.slots_at) told.slots_at = slots_as_told(told, made, of.at, calibration);
  told.cost_low = told.cost = told.cost_high = made.cost;
  if (!made.end || (made.basis == Basis::kUnknown && !made.is_stopped())) {
    const bool never_starts = !made.start && made.sizes.back().size == 0 && !made.end;
    told.not_before = !made.end || never_starts ? of.until : told.start ? told.start->at : of.at;
    if (made.end) told.cost_low = told.cost = told.cost_high = spent;
    return told;
  }
  // What a job has spent by then does not depend on how long its work is.
  const Basis basis = made.is_stopped() ? Basis::kDeclared : made.basis;
  const Instant from = fixed_or(made.end_fixed, of.at);
  told.end = after(calibration.expect(Moment::kEnd, basis, from, *made.end), made, told.start, from);
  told.outcome = made.outcome;
  const Duration left = *made.end - of.at;
  told.cost_low = cost_at(spent, made.cost, left, told.end->early - of.at);
  told.cost = cost_at(spent, made.cost, left, told.end->at - of.at);
  told.cost_high = cost_at(spent, made.cost, left, told.end->late - of.at);
  return told;
}

}  // namespace

std::vector<SizeFrom> reported_sizes(const JobReport& told, std::vector<SizeFrom> sizes) {
  const auto first = std::find_if(sizes.begin(), sizes.end(), [](const auto& from) { return from.size > 0; });
  if (first == sizes.end()) return sizes;
  const Duration late = told.start ? told.start->at - first->at : Duration();
  for (auto from = first; from != sizes.end(); ++from) from->at = from->at + late;
  if (sizes.back().size > 0) return sizes;
  if (!told.end && told.basis == Basis::kUnknown) sizes.pop_back();
  if (!told.end) return sizes;
  sizes.back().at = told.end->at;
  for (auto from = first; from != sizes.end(); ++from) from->at = std::min(from->at, told.end->at);
  return sizes;
}

ForecastReport tell(const core::ClusterState& state, const Forecast& forecast, const Calibration& calibration) {
  ForecastReport told{.at = forecast.at,
                      .until = forecast.until,
                      .cut_short = forecast.cut_short,
                      .policy = forecast.policy,
                      .unasked_policy = forecast.unasked_policy,
                      .jobs = {}};
  for (const auto& [id, made] : forecast.jobs) {
    const core::Job* job = state.find_job(id);
    if (job == nullptr) continue;
    // Charged up to the forecast: what a job that reports nothing holds is charged with its next change only.
    const Money spent = core::account_at(state, *job, forecast.at).cost;
    JobReport each = tell_job(spent, made, forecast, calibration);
    if (made.budget) each.budget = budget_as_told(each, made);
    each.sizes = reported_sizes(each, made.sizes);
    told.jobs.emplace(id, std::move(each));
  }
  return told;
}

}  // namespace tidepool::forecast
