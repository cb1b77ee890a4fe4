// How often something may be done: once each `every`, and after a pause as many times at once as would have come in
// `at_once`. Pure: time is an argument.
//
// Rule: a bucket keeps a single instant, up to when what was done is paid for. What is refused costs nothing.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace tidepool {

struct RateLimit {
  Duration every;    // above zero
  Duration at_once;  // at least `every`: below it nothing is ever within the limit
};

class TokenBucket {
 public:
  // Whether one more is within the limit, which then counts.
  [[nodiscard]] bool take(const RateLimit& limit, Instant now) {
    const Instant next = std::max(paid_to_, now) + limit.every;
    if (next > now + limit.at_once) return false;
    paid_to_ = next;
    return true;
  }
  // When the next is within the limit.
  [[nodiscard]] Instant due(const RateLimit& limit) const { return paid_to_ + limit.every - limit.at_once; }
  // As good as a new one.
  [[nodiscard]] bool is_full(Instant now) const { return paid_to_ <= now; }

 private:
  Instant paid_to_;
};

}  // namespace tidepool
