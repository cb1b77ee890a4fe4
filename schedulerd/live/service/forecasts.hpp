// What readers see of forecasts: the newest one, made of a picture that is a little older than the newest, and plans of
// submissions. Neither is part of the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "forecast/calibration.hpp"
#include "forecast/submit_plan.hpp"
#include "forecast/told.hpp"

namespace tidepool::live {

struct Published;

// What making forecasts has cost so far.
struct ForecastCosts {
  std::int64_t made = 0;
  std::int64_t events = 0;  // facts and decisions, of all of them
  Duration spent;           // of processor time
  Duration newest;          // likewise, of the newest one
  std::int64_t errors = 0;  // in which a plan was dropped because it was not lawful
};

// Immutable once it is published.
struct ForecastPicture {
  std::shared_ptr<const Published> of;  // made from this
  forecast::ToldForecast told;
  std::shared_ptr<const forecast::Calibration> calibration;
  ForecastCosts costs;
};

// Plans of all callers that wait at once; one more is refused.
inline constexpr std::size_t kPlansMost = 4;

// What submitting a job would bring.
struct PlannedSubmit {
  std::shared_ptr<const Published> picture;  // with the job in it, nothing decided yet
  forecast::SubmitPlan plan;
};

}  // namespace tidepool::live
