#include "schedulerd/live/agents/request_rate.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kBucketsBeforeSweep = 1'024;

}  // namespace

bool RequestRate::take(const std::string& address, Instant now) {
  if (buckets_.size() >= kBucketsBeforeSweep) {
    std::erase_if(buckets_, [&](const auto& entry) { return entry.second.is_full(now); });
  }
  return buckets_[address].take(limit_, now);
}

}  // namespace tidepool::live
