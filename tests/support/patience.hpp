// How long tests wait for what must happen sooner or later. A deadline is there so that a hang ends, not to measure:
// where instrumentation makes programs ten times slower, TIDEPOOL_PATIENCE=10 makes every wait ten times longer.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace tidepool::test {

// At least 1.
inline int patience() {
  static const int factor = [] {
    const char* text = std::getenv("TIDEPOOL_PATIENCE");
    return text == nullptr ? 1 : std::max(1, std::atoi(text));
  }();
  return factor;
}

}  // namespace tidepool::test
