// When each job of a state will start and end, and what it will hold and cost by then: the engine's own decisions, run
// forward in a world in which every duration is the expected one (expectations.hpp) and nothing fails
// (forward_world.hpp). No job is submitted, and no user changes anything. Pure: it works on a copy of the state; the
// same state, parts and limits give the same forecast.
//
// Cost: about one decision per change, that is each job's starts, resizes and reports, and a plan every `plan_every`.
// So it grows with the number of jobs and with how often they change, up to `events_most` facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id_table.hpp"
#include "base/money.hpp"
#include "base/time.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/money/budget.hpp"
#include "core/state/cluster_state.hpp"
#include "forecast/expectations.hpp"
#include "forecast/freed_slots.hpp"

namespace tidepool::forecast {

struct Limits {
  std::int64_t events_most = 200'000;                // facts and decisions; Forecast::cut_short says if it was reached
  Duration horizon = Duration::seconds(7 * 86'400);  // from the beginning of the forecast
  Duration report_every = Duration::seconds(30);     // as programs report steps
  Duration plan_every = Duration::seconds(300);      // by a policy for the whole cluster, if nothing else happens
};

// The effect of a spent budget on a job that holds slots.
struct BudgetEffect {
  Instant at;
  std::string tenant;  // owner of the budget: the job's tenant, or one above it
  core::BudgetAction action = core::BudgetAction::kPause;
  bool operator==(const BudgetEffect&) const = default;
};

struct SizeFrom {
  Instant at;
  int size = 0;                                // workers; 0 = it holds no slots
  core::reason::Claimants taken_for = {};      // of a smaller size: the jobs that get the slots
  std::optional<BudgetEffect> by_budget = {};  // of a smaller size that no other job causes
  bool operator==(const SizeFrom&) const = default;
};

// Whether the budget ends the job.
[[nodiscard]] inline bool stops(const std::optional<BudgetEffect>& budget, core::JobState outcome) {
  return outcome == core::JobState::kCancelled && budget && budget->action == core::BudgetAction::kStop;
}

struct JobForecast {
  Basis basis = Basis::kUnknown;         // of its end
  Basis start_basis = Basis::kDeclared;  // the least reliable basis of the ends that its start waits for
  bool waits = false;                    // it holds no slots when the forecast begins
  std::optional<Instant> start;          // of a pending or starting job: its first step; none: not by Forecast::until
  std::optional<FreedBy> starts_after = {};  // with `start`; none: its slots were free before, or came with a new node
  std::optional<Instant> end;                // none: not by then
  core::JobState outcome = core::JobState::kSucceeded;  // with `end`
  Money cost;                                           // from its submission to its end, or until then
  std::vector<SizeFrom> sizes;                          // in order from the beginning, a bounded number
  // Until then a calendar window holds the job, whatever else happens: the last budget window that has to end before it
  // starts, or continues to its end. Only later times are estimates.
  std::optional<Instant> start_fixed = {};
  std::optional<Instant> end_fixed = {};
  std::optional<Instant> slots_at = {};     // of a pending job: when it first gets slots, even without `start`
  std::optional<BudgetEffect> budget = {};  // the strongest effect of a budget, and its first time
  // Its budget ends it, not the end of its work.
  [[nodiscard]] bool is_stopped() const { return end && stops(budget, outcome); }
  bool operator==(const JobForecast&) const = default;
};

struct Forecast {
  Instant at;                        // when it begins
  Instant until;                     // the end of the simulated time
  bool cut_short = false;            // by events_most, not by the horizon
  std::int64_t events = 0;           // processed
  std::string policy;                // that decides
  std::string unasked_policy;        // the policy file that decides in the daemon and is not called here; empty = none
  std::string error;                 // of the first plan that the validator rejected; empty = none
  IdTable<JobId, JobForecast> jobs;  // jobs that had not ended at `at`
};

// `now` is not before the newest fact of `state`. An active policy file is not called: the daemon's own policy decides
// in its place.
[[nodiscard]] Forecast forecast(core::EngineParts parts, const core::ClusterState& state, Instant now,
                                const Limits& limits = {});

}  // namespace tidepool::forecast
