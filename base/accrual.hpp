// Amounts that grow by a rate an hour: exact, so that many small steps add up to what one long step would.
#pragma once

#include <cstdint>

#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool {

// A rate an hour times microseconds, in millionths, is that many times too much.
inline constexpr std::int64_t kUsPerHour = 3'600'000'000;

// Adds what the rate comes to over `time` to `sum`. What is below a millionth stays in `remainder`, in parts of
// 1 / kUsPerHour millionth.
void accrue(Money rate_an_hour, Duration time, Money& sum, std::int64_t& remainder);

}  // namespace tidepool
