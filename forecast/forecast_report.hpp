// A forecast as it is told to people: every time with its interval, and what cannot be said left out. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/id_table.hpp"
#include "base/money.hpp"
#include "forecast/calibration.hpp"
#include "forecast/forecast.hpp"

namespace tidepool::forecast {

struct JobReport {
  Basis basis = Basis::kUnknown;             // of its end
  Basis start_basis = Basis::kDeclared;      // of its start
  std::optional<Expected> start;             // of a job that waits or starts
  std::optional<Instant> slots_at = {};      // of a job that waits: when it is first given slots
  std::optional<FreedBy> starts_after = {};  // with `start`
  std::optional<Expected> end;               // none: its length is not known, or not within the horizon
  // Of a job without an end: not before that, as far as can be seen.
  std::optional<Instant> not_before;
  core::JobState outcome = core::JobState::kSucceeded;  // with `end`
  // From its submission to its end, at the early, the expected and the late end of it; without an end what it is until
  // `not_before` at least.
  Money cost_low;
  Money cost;
  Money cost_high;
  std::vector<SizeFrom> sizes;              // reported_sizes()
  std::optional<BudgetEffect> budget = {};  // what a budget does to it, as told
  // Slots are free for it when the forecast is made.
  [[nodiscard]] bool starts_at_once(Instant made) const { return slots_at && *slots_at <= made; }
  // It is its budget that ends it: at `end`.
  [[nodiscard]] bool is_stopped() const { return end && stops(budget, outcome); }
};

struct ForecastReport {
  Instant at;     // when the forecast begins
  Instant until;  // nothing after that was looked at
  bool cut_short = false;
  std::string policy;          // by which it decides
  std::string unasked_policy;  // the policy file that decides in the daemon and was not asked; empty = none does
  IdTable<JobId, JobReport> jobs;
};

// The sizes as they were run forward, `sizes`, go with the job's times as they are told: what begins with its start
// moves with it, and what has ended ends when the job is told to end. An end that is not told has no row.
[[nodiscard]] std::vector<SizeFrom> reported_sizes(const JobReport& told, std::vector<SizeFrom> sizes);

// `state`: that it was made from.
[[nodiscard]] ForecastReport tell(const core::ClusterState& state, const Forecast& forecast,
                                  const Calibration& calibration);

}  // namespace tidepool::forecast
