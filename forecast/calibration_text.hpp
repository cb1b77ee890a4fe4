// What has been observed of forecasts as text, to be kept over a restart, and back. Pure.
//
// It is bounded as a Calibration is: 1,024 quotients of each of its 32 classes. Forecasts that have not come about yet
// are not in it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "forecast/calibration.hpp"

namespace tidepool::forecast {

[[nodiscard]] std::string calibration_text(const Calibration& calibration);
// Refuses what calibration_text() would not have written.
[[nodiscard]] Result<Calibration> calibration_from_text(std::string_view text);

}  // namespace tidepool::forecast
