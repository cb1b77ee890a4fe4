// Limits how often each address may make an expensive request: one token bucket per address. Rule: only buckets that
// are not full are kept, so that idle addresses use no memory. Pure; times are of any steady clock.
#pragma once

#include <map>
#include <string>

#include "base/token_bucket.hpp"

namespace tidepool::live {

class RequestRate {
 public:
  explicit RequestRate(const RateLimit& limit) : limit_(limit) {}

  // Whether one more is within the limit, which counts from then on.
  [[nodiscard]] bool take(const std::string& address, Instant now);

 private:
  RateLimit limit_;
  std::map<std::string, TokenBucket> buckets_;
};

}  // namespace tidepool::live
