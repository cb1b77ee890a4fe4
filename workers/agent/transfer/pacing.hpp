// Limits the rate at which an agent sends: a token bucket with one token per byte, filled at the rate. Pure. All
// transfers of an agent use one bucket, so they share the rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace tidepool::agent {

class Pacer {
 public:
  // Bytes per second; 0 = no limit.
  explicit Pacer(std::int64_t rate) : rate_(rate) {}

  // How long to wait before these bytes may be sent. They count as sent: later bytes wait for them.
  [[nodiscard]] Duration wait_for(std::int64_t bytes, Instant now) {
    if (rate_ <= 0) return {};
    const Instant begin = std::max(free_at_, now);
    free_at_ = begin + Duration::from_seconds(static_cast<double>(bytes) / static_cast<double>(rate_));
    return begin - now;
  }

 private:
  std::int64_t rate_;
  Instant free_at_;
};

}  // namespace tidepool::agent
