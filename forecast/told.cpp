#include "forecast/told.hpp"

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

// A job does not end before it starts.
Expected after(const Expected& end, const std::optional<Expected>& start) {
  if (!start) return end;
  return {std::max(end.early, start->early), std::max(end.at, start->at), std::max(end.late, start->late)};
}

// From when on a forecast can be off.
Instant fixed_or(const std::optional<Instant>& fixed, Instant now) {
  return fixed ? std::max(now, *fixed) : now;
}

ToldJob tell_job(Money spent, const JobForecast& made, const Forecast& of, const Calibration& calibration) {
  ToldJob told{.basis = made.basis, .start_basis = made.start_basis};
  if (made.start) {
    told.start = calibration.expect(Moment::kStart, made.start_basis, fixed_or(made.start_fixed, of.at), *made.start);
    told.starts_after = made.starts_after;
  }
  told.cost_low = told.cost = told.cost_high = made.cost;
  if (!made.end || made.basis == Basis::kUnknown) {
    const bool never_starts = !made.start && made.sizes.back().size == 0 && !made.end;
    told.not_before = !made.end || never_starts ? of.until : told.start ? told.start->at : of.at;
    if (made.end) told.cost_low = told.cost = told.cost_high = spent;
    return told;
  }
  told.end =
      after(calibration.expect(Moment::kEnd, made.basis, fixed_or(made.end_fixed, of.at), *made.end), told.start);
  told.outcome = made.outcome;
  const Duration left = *made.end - of.at;
  told.cost_low = cost_at(spent, made.cost, left, told.end->early - of.at);
  told.cost = cost_at(spent, made.cost, left, told.end->at - of.at);
  told.cost_high = cost_at(spent, made.cost, left, told.end->late - of.at);
  return told;
}

}  // namespace

std::vector<SizeFrom> sizes_as_told(const ToldJob& told, std::vector<SizeFrom> sizes) {
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

Told tell(const core::ClusterState& state, const Forecast& forecast, const Calibration& calibration) {
  Told told{.at = forecast.at,
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
    ToldJob each = tell_job(spent, made, forecast, calibration);
    each.sizes = sizes_as_told(each, made.sizes);
    told.jobs.emplace(id, std::move(each));
  }
  return told;
}

}  // namespace tidepool::forecast
