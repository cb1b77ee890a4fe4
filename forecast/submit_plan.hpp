// What a submission would bring: when the job would start and end, what it would cost, and which others would have less
// for it or end later. Two forecasts of the same state, with the job and without it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "forecast/forecast_report.hpp"

namespace tidepool::forecast {

struct SubmitPlan {
  enum class Effect { kEnded, kPreempted, kShrunk, kLater, kSooner };  // kEnded: by a budget
  // What becomes of another job because of the submission; the worst that happens to it.
  struct Change {
    JobId job;
    Effect effect = Effect::kLater;
    std::optional<Instant> at;               // of preemption or shrinking: when it first has less; of an end: when
    int from = 0;                            // workers, there: without the submission,
    int to = 0;                              // and with it
    core::reason::Claimants taken_for = {};  // the jobs that are to have the slots, where some are
    // What it is ended, preempted or shrunk by, if not for other jobs: a budget that the submission has spent sooner.
    std::optional<BudgetEffect> budget = {};
    std::optional<Duration> start_by;  // how much later it starts, if that is forecast either way; below 0 = sooner
    std::optional<Duration> end_by;    // likewise, ends
  };
  core::ClusterState state;  // with the job in it, nothing decided yet
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
