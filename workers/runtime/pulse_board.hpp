// What the worker is busy with: written by the thread that trains, read by the link's, which tells the
// agent each second. A computation that takes much longer than usual is taken for stuck there.
#pragma once

#include <mutex>

#include "api/worker_protocol.hpp"
#include "workers/runtime/comm/clock.hpp"

namespace tidepool::runtime {

class PulseBoard {
 public:
  // `stuck_after`: how long the phase may last at this step.
  void set(api::PulsePhase phase, std::int64_t step, Millis stuck_after) {
    const std::lock_guard lock(mutex_);
    pulse_ = {.step = step, .phase = phase, .stuck_after_ms = stuck_after.count()};
  }
  [[nodiscard]] api::PulseMessage read() const {
    const std::lock_guard lock(mutex_);
    return pulse_;
  }

 private:
  mutable std::mutex mutex_;
  api::PulseMessage pulse_;
};

}  // namespace tidepool::runtime
