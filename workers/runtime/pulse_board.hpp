// What the worker is doing. The training thread writes it; the link's thread reads it and reports it to the agent every
// second. The agent treats a computation that takes much longer than usual as stuck.
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
