// The effect of a submission: when the job would start and end, what it would cost, and which other jobs would get less
// or end later. Two forecasts of the same state, with the job and without it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "forecast/forecast_report.hpp"

namespace tidepool::forecast {

struct SubmitPlan {
  enum class Effect { kEnded, kPreempted, kShrunk, kLater, kSooner };  // kEnded: by a budget
  // The effect on another job; the worst one.
  struct Change {
    JobId job;
    Effect effect = Effect::kLater;
    std::optional<Instant> at;               // of preemption or shrinking: when it first has fewer; of an end: its time
    int from = 0;                            // workers at that time: without the submission,
    int to = 0;                              // and with it
    core::reason::Claimants taken_for = {};  // the jobs that get the slots, if any
    // The budget that ends, preempts or shrinks it, if no other job does: one that the submission spends sooner.
    std::optional<BudgetEffect> budget = {};
    std::optional<Duration> start_by;  // how much later it starts, if both forecasts have a start; < 0 = sooner
    std::optional<Duration> end_by;    // the same for its end
  };
  core::ClusterState state;  // includes the job, before any decision
  JobId job;
  ForecastReport told;
  std::vector<Change> changes;  // by job
};
[[nodiscard]] const char* to_text(SubmitPlan::Effect effect);

struct SubmitAsked {
  core::JobSpec spec;
  Instant now;  // not before the newest fact of the state
  Limits limits;
};
// An error if the submission is refused.
[[nodiscard]] Result<SubmitPlan> plan_submit(const core::EngineParts& parts, const core::ClusterState& state,
                                             const SubmitAsked& asked, const Calibration& calibration);

}  // namespace tidepool::forecast
