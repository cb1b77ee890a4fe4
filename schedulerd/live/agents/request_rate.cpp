#include "schedulerd/live/agents/request_rate.hpp"

#include <algorithm>

namespace tidepool::live {
namespace {

constexpr std::size_t kBucketsBeforeSweep = 1'024;

}  // namespace

double RequestRate::left_of(const Bucket& bucket, double now_s) const {
  return std::min(limit_.at_once, bucket.left + (now_s - bucket.at_s) * limit_.per_second);
}

bool RequestRate::take(const std::string& address, double now_s) {
  if (buckets_.size() >= kBucketsBeforeSweep) {
    std::erase_if(buckets_, [&](const auto& entry) { return left_of(entry.second, now_s) >= limit_.at_once; });
  }
  Bucket& bucket = buckets_.try_emplace(address, Bucket{limit_.at_once, now_s}).first->second;
  bucket = {.left = left_of(bucket, now_s), .at_s = now_s};
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

}  // namespace tidepool::live
