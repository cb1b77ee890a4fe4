// The steady clock as an Instant; the agent's deadlines use it.
#pragma once

#include <chrono>

#include "base/time.hpp"

namespace tidepool::agent {

[[nodiscard]] inline Instant monotonic_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant::from_micros(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace tidepool::agent
