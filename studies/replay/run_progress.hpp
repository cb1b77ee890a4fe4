// How far a run is, for people who wait for it. Nothing in the run depends on it.
#pragma once

#include <cstddef>
#include <functional>

#include "base/time.hpp"

namespace tidepool::sim {

struct RunProgress {
  Duration now;  // simulated, from the start of the run
  std::size_t ended = 0;
  std::size_t jobs = 0;  // in all
};
// Told in the thread of the run, far more often than a person can read.
using TellProgress = std::function<void(const RunProgress& progress)>;

}  // namespace tidepool::sim
