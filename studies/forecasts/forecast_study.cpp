#include "studies/forecasts/forecast_study.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace tidepool::studies {
namespace {

using forecast::Basis;
using forecast::Moment;

constexpr double kLeastS = 60;  // times nearer than that are judged as if they were so far away
constexpr double kTickS = 1;

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double seconds(Instant at) {
  return (at - Instant()).to_seconds();
}

}  // namespace

struct ForecastStudy::Sums {
  std::vector<double> errors;
  std::vector<double> raw_errors;
  std::vector<double> widths;
  std::int64_t covered = 0;
  std::int64_t not_told = 0;

  void add(const Said& said, double happened_s) {
    if (!said.raw) {
      ++not_told;
      return;
    }
    const double took = std::max(kLeastS, happened_s - seconds(said.at));
    const auto off = [&](Instant told) { return std::abs(seconds(told) - happened_s) / took; };
    errors.push_back(off(said.expected.at));
    raw_errors.push_back(off(*said.raw));
    widths.push_back((said.expected.late - said.expected.early).to_seconds() /
                     std::max(kLeastS, (said.expected.at - said.at).to_seconds()));
    const bool lies_within =
        happened_s >= seconds(said.expected.early) - kTickS && happened_s <= seconds(said.expected.late) + kTickS;
    covered += lies_within ? 1 : 0;
  }

  [[nodiscard]] Figures figures() const {
    const auto count = static_cast<std::int64_t>(errors.size());
    return {.forecasts = count,
            .not_told = not_told,
            .error_p50 = percentile(errors, 0.5),
            .error_p90 = percentile(errors, 0.9),
            .raw_error_p50 = percentile(raw_errors, 0.5),
            .covered = count == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(count),
            .width_p50 = percentile(widths, 0.5)};
  }
};

void ForecastStudy::look(const core::ClusterState& state, Instant now) {
  calibration_.learn(state, now);
  const std::int64_t begin = setup_.stopwatch_ns ? setup_.stopwatch_ns() : 0;
  const forecast::Forecast made = forecast::forecast(setup_.parts(), state, now, setup_.limits);
  const std::int64_t end = setup_.stopwatch_ns ? setup_.stopwatch_ns() : 0;
  cost_ms_.push_back(static_cast<double>(end - begin) * 1e-6);
  events_ += made.events;
  cut_short_ += made.cut_short ? 1 : 0;
  if (!made.error.empty()) errors_.push_back(made.error);
  for (const auto& [id, told] : made.jobs) say(*state.find_job(id), made, told);
  calibration_.remember(state, made);
}

void ForecastStudy::say(const core::Job& job, const forecast::Forecast& made, const forecast::JobForecast& told) {
  const auto add = [&](Moment moment, Basis basis, const std::optional<Instant>& raw,
                       const std::optional<Instant>& fixed) {
    Said said{.job = job.id, .moment = moment, .basis = basis, .at = made.at, .raw = raw, .expected = {}};
    if (raw) said.expected = calibration_.expect(moment, basis, fixed.value_or(made.at), *raw);
    said_.push_back(said);
  };
  if (!job.started_at) add(Moment::kStart, told.start_basis, told.start, told.start_fixed);
  add(Moment::kEnd, told.basis, told.end, told.end_fixed);
}

ForecastStudy::Report ForecastStudy::report(const sim::SimResult& result) const {
  std::map<JobId, const sim::JobResult*> rows;
  for (const sim::JobResult& row : result.rows) rows[row.id] = &row;
  std::map<std::string, Sums> sums;
  for (const Said& said : said_) {
    const sim::JobResult& row = *rows.at(said.job);
    if (row.state != core::JobState::kSucceeded) continue;
    const auto& happened = said.moment == Moment::kStart ? row.started_s : row.finished_s;
    const std::string moment = said.moment == Moment::kStart ? "start" : "end";
    sums[moment].add(said, *happened);
    sums[moment + ", " + to_text(said.basis)].add(said, *happened);
  }
  Report report{
      .looks = static_cast<std::int64_t>(cost_ms_.size()),
      .cut_short = cut_short_,
      .events_mean = cost_ms_.empty() ? 0 : static_cast<double>(events_) / static_cast<double>(cost_ms_.size()),
      .cost_ms_p50 = percentile(cost_ms_, 0.5),
      .cost_ms_max = percentile(cost_ms_, 1),
      .figures = {},
      .errors = errors_};
  for (const auto& [name, sum] : sums) report.figures[name] = sum.figures();
  return report;
}

nlohmann::ordered_json to_json(const ForecastStudy::Report& report) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  for (const auto& [name, of] : report.figures) {
    figures[name] = {{"forecasts", of.forecasts}, {"not_told", of.not_told},           {"error_p50", of.error_p50},
                     {"error_p90", of.error_p90}, {"raw_error_p50", of.raw_error_p50}, {"covered", of.covered},
                     {"width_p50", of.width_p50}};
  }
  return {{"looks", report.looks},
          {"cut_short", report.cut_short},
          {"events_mean", report.events_mean},
          {"cost_ms_p50", report.cost_ms_p50},
          {"cost_ms_max", report.cost_ms_max},
          {"errors", report.errors.size()},
          {"figures", std::move(figures)}};
}

}  // namespace tidepool::studies
