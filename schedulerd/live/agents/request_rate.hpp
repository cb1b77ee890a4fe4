// How often each address may ask for something that costs the daemon work: a bucket of so many requests that fills
// again at a steady rate. Pure; times are seconds of any steady clock.
#pragma once

#include <map>
#include <string>

namespace tidepool::live {

class RequestRate {
 public:
  struct Limit {
    double at_once = 0;
    double per_second = 0;
  };
  explicit RequestRate(const Limit& limit) : limit_(limit) {}

  // Whether one more is within the limit, which counts from then on.
  [[nodiscard]] bool take(const std::string& address, double now_s);

 private:
  struct Bucket {
    double left = 0;
    double at_s = 0;
  };
  [[nodiscard]] double left_of(const Bucket& bucket, double now_s) const;

  Limit limit_;
  std::map<std::string, Bucket> buckets_;  // of those that are not full
};

}  // namespace tidepool::live
