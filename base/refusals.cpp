#include "base/refusals.hpp"

#include <cstddef>
#include <string>

namespace tidepool {
namespace {

constexpr std::size_t kErrorsTold = 12;

}  // namespace

void Refusals::add(const Status& status) {
  if (status.ok() || !known_.insert(status.error().message).second) return;
  if (told_.size() < kErrorsTold) told_.push_back(status.error());
}

Status Refusals::status() const {
  if (told_.empty()) return ok_status();
  Error all = told_.front();
  for (std::size_t i = 1; i < told_.size(); ++i) all.message += "; also " + told_[i].message;
  if (known_.size() > told_.size()) all.message += "; and " + std::to_string(known_.size() - told_.size()) + " more";
  return all;
}

}  // namespace tidepool
