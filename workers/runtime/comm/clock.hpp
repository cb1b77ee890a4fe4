// The only clock of the runtime: monotonic, for deadlines and measurements; never a wall clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace tidepool::runtime {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Millis = std::chrono::milliseconds;

[[nodiscard]] inline std::int64_t micros_between(TimePoint begin, TimePoint end) {
  return std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count();
}

[[nodiscard]] inline double millis_between(TimePoint begin, TimePoint end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

}  // namespace tidepool::runtime
