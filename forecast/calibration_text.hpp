// The observations of forecasts as text that is stored over a restart, and back. Pure.
//
// Its size is bounded as that of a Calibration: 1,024 quotients of each of its 32 classes. Forecasts whose event has
// not occurred yet are not in it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "forecast/calibration.hpp"

namespace tidepool::forecast {

[[nodiscard]] std::string calibration_text(const Calibration& calibration);
// Refuses text that calibration_text() would not have written.
[[nodiscard]] Result<Calibration> calibration_from_text(std::string_view text);

}  // namespace tidepool::forecast
