// Amounts that grow at an hourly rate. Exact: many small steps add up to the same amount as one long step.
#pragma once

#include <cstdint>

#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool {

// Divisor for a rate per hour (in millionths) multiplied by microseconds.
inline constexpr std::int64_t kUsPerHour = 3'600'000'000;

// Adds the amount that accrues over `time` to `sum`. The part below a millionth stays in `remainder`, in units of 1 /
// kUsPerHour millionth.
void accrue(Money rate_an_hour, Duration time, Money& sum, std::int64_t& remainder);

}  // namespace tidepool
