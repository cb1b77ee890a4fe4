// A forecast as shown to users: every time has its interval, and unknown values are left out. Pure.
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
  std::optional<Expected> start;             // of a pending or starting job
  std::optional<Instant> slots_at = {};      // of a pending job: when it first gets slots
  std::optional<FreedBy> starts_after = {};  // with `start`
  std::optional<Expected> end;               // none: its work is not known, or it does not end within the horizon
  // Of a job without `end`: it does not end before this, as far as known.
  std::optional<Instant> not_before;
  core::JobState outcome = core::JobState::kSucceeded;  // with `end`
  // From its submission to its end, for the early, the expected and the late end; without an end the cost until
  // `not_before`, at least.
  Money cost_low;
  Money cost;
  Money cost_high;
  std::vector<SizeFrom> sizes;              // reported_sizes()
  std::optional<BudgetEffect> budget = {};  // the effect of a budget
  // Slots are free for it when the forecast is made.
  [[nodiscard]] bool starts_at_once(Instant made) const { return slots_at && *slots_at <= made; }
  // Its budget ends it, at `end`.
  [[nodiscard]] bool is_stopped() const { return end && stops(budget, outcome); }
};

struct ForecastReport {
  Instant at;     // when the forecast begins
  Instant until;  // the end of the simulated time
  bool cut_short = false;
  std::string policy;          // that decides
  std::string unasked_policy;  // the policy file that decides in the daemon and was not called; empty = none
  IdTable<JobId, JobReport> jobs;
};

// The simulated sizes, `sizes`, fitted to the reported times of the job: rows that begin with its start move with it,
// and rows that end with it end at the reported end. An end that is not reported has no row.
[[nodiscard]] std::vector<SizeFrom> reported_sizes(const JobReport& told, std::vector<SizeFrom> sizes);

// `state`: the one that the forecast was made from.
[[nodiscard]] ForecastReport tell(const core::ClusterState& state, const Forecast& forecast,
                                  const Calibration& calibration);

}  // namespace tidepool::forecast
