// How long tests wait for what must happen sooner or later. A deadline is there so that a hang ends, not to measure:
// where instrumentation makes programs ten times slower, TIDEPOOL_PATIENCE=10 makes every wait ten times longer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

namespace tidepool::test {

// At least 1.
inline int patience() {
  static const int factor = [] {
    const char* text = std::getenv("TIDEPOOL_PATIENCE");
    return text == nullptr ? 1 : std::max(1, std::atoi(text));
  }();
  return factor;
}

// True once `condition` holds; looks every 20 ms for at most `seconds`.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition, int seconds = 60) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds) * patience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace tidepool::test
