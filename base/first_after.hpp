// The earliest of several times that is later than a given one: used to find when something is due next.
#pragma once

#include <optional>

#include "base/time.hpp"

namespace tidepool {

class FirstAfter {
 public:
  // None: considers all times.
  explicit FirstAfter(std::optional<Instant> after = {}) : after_(after) {}

  void consider(std::optional<Instant> when) {
    if (when && (!after_ || *when > *after_) && (!first_ || *when < *first_)) first_ = when;
  }
  [[nodiscard]] std::optional<Instant> found() const { return first_; }

 private:
  std::optional<Instant> after_;
  std::optional<Instant> first_;
};

}  // namespace tidepool
