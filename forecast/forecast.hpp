// When each job of a state will start and end, and what it will hold and cost by then: the engine's own decisions, run
// forward in a world in which everything takes as long as is expected of it (expectations.hpp) and nothing fails
// (forward_world.hpp). No job comes that is not there, and no user changes anything. Pure: it takes a copy of the state
// and changes nothing; the same state, parts and limits give the same forecast.
//
// Costs about as many decisions as there will be changes: each job's starts, resizes and reports, and a plan every
// `plan_every`. So it grows with the jobs and with how often they change, up to `events_most` facts.
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
  std::int64_t events_most = 200'000;                // facts and decisions; where it ends is said
  Duration horizon = Duration::seconds(7 * 86'400);  // likewise
  Duration report_every = Duration::seconds(30);     // as programs report steps
  Duration plan_every = Duration::seconds(300);      // by a policy for the whole cluster, if nothing happens
};

// What a spent budget does to a job that holds slots.
struct BudgetEffect {
  Instant at;
  std::string tenant;  // whose budget it is: the job's own, or one above it
  core::BudgetAction action = core::BudgetAction::kPause;
  bool operator==(const BudgetEffect&) const = default;
};

struct SizeFrom {
  Instant at;
  int size = 0;                                // workers; 0 = it holds nothing
  core::reason::Claimants taken_for = {};      // of a smaller one: the jobs that are to have the slots
  std::optional<BudgetEffect> by_budget = {};  // of a smaller one that is for no other job
  bool operator==(const SizeFrom&) const = default;
};

// It is what ends a job that ends so.
[[nodiscard]] inline bool stops(const std::optional<BudgetEffect>& budget, core::JobState outcome) {
  return outcome == core::JobState::kCancelled && budget && budget->action == core::BudgetAction::kStop;
}

struct JobForecast {
  Basis basis = Basis::kUnknown;         // of its end
  Basis start_basis = Basis::kDeclared;  // the least that one of the ends rests on before which it does not start
  bool waits = false;                    // it holds nothing when the forecast begins
  std::optional<Instant> start;          // of a job that waits or starts: when it steps; none: not by Forecast::until
  std::optional<FreedBy> starts_after = {};  // with `start`; none: its slots were free before, or came with a node
  std::optional<Instant> end;                // none: not by then
  core::JobState outcome = core::JobState::kSucceeded;  // with `end`
  Money cost;                                           // from its submission to its end, or until then
  std::vector<SizeFrom> sizes;                          // from the beginning on, the first ones
  // Up to then a calendar holds it, whatever else happens: the last window of a budget that has to end before it
  // starts, or goes on to its end. Only what comes after is a guess.
  std::optional<Instant> start_fixed = {};
  std::optional<Instant> end_fixed = {};
  std::optional<Instant> slots_at = {};     // of a job that waits: when it is first given slots, started by then or not
  std::optional<BudgetEffect> budget = {};  // the strongest that a budget does to it, and when first
  // Its budget ends it, and not its work.
  [[nodiscard]] bool is_stopped() const { return end && stops(budget, outcome); }
  bool operator==(const JobForecast&) const = default;
};

struct Forecast {
  Instant at;                        // when it begins
  Instant until;                     // nothing after that was looked at
  bool cut_short = false;            // for the number of events, and not the horizon
  std::int64_t events = 0;           // that it took
  std::string policy;                // by which it decides
  std::string unasked_policy;        // the policy file that decides in the daemon and is not asked; empty = none does
  std::string error;                 // of the first plan that was dropped because it was not lawful; empty = none was
  IdTable<JobId, JobForecast> jobs;  // those that had not ended
};

// `now` is not before the newest fact of `state`. A policy file that decides is not asked: the daemon's own policy
// decides in its place.
[[nodiscard]] Forecast forecast(core::EngineParts parts, const core::ClusterState& state, Instant now,
                                const Limits& limits = {});

}  // namespace tidepool::forecast
