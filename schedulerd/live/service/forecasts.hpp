// Forecasts for readers: the newest one, made from a slightly older picture, and plans of submissions. Neither is part
// of the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "forecast/calibration.hpp"
#include "forecast/forecast_report.hpp"
#include "forecast/submit_plan.hpp"

namespace tidepool::live {

struct Published;

// The cost of all forecasts so far.
struct ForecastCosts {
  std::int64_t made = 0;
  std::int64_t events = 0;  // facts and decisions of all forecasts
  Duration spent;           // of processor time
  Duration newest;          // of the newest forecast
  std::int64_t errors = 0;  // forecasts in which an invalid plan was dropped
};

// Immutable once it is published.
struct ForecastPicture {
  std::shared_ptr<const Published> of;  // made from this
  forecast::ForecastReport told;
  std::shared_ptr<const forecast::Calibration> calibration;
  ForecastCosts costs;
};

// The most plans that wait at once; more are refused.
inline constexpr std::size_t kPlansMost = 4;

// The effect of submitting a job.
struct PlannedSubmit {
  std::shared_ptr<const Published> picture;  // including the job, before a decision
  forecast::SubmitPlan plan;
};

}  // namespace tidepool::live
