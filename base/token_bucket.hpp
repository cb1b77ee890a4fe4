// Limits how often something may be done: once per `every`; after a pause, as many times at once as the pause would
// have allowed, up to `at_once`. Pure: time is an argument.
//
// Rule: a bucket stores a single instant, up to which earlier actions are paid for. A refused action costs nothing.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace tidepool {

struct RateLimit {
  Duration every;    // above zero
  Duration at_once;  // at least `every`: a smaller value allows nothing, ever
};

class TokenBucket {
 public:
  // Returns whether one more action is within the limit; if so, it is counted.
  [[nodiscard]] bool take(const RateLimit& limit, Instant now) {
    const Instant next = std::max(paid_to_, now) + limit.every;
    if (next > now + limit.at_once) return false;
    paid_to_ = next;
    return true;
  }
  // When the next action is within the limit.
  [[nodiscard]] Instant due(const RateLimit& limit) const { return paid_to_ + limit.every - limit.at_once; }
  // Whether the bucket equals a new one.
  [[nodiscard]] bool is_full(Instant now) const { return paid_to_ <= now; }

 private:
  Instant paid_to_;
};

}  // namespace tidepool
