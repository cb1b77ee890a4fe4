// A saved state that the workers of a start found but did not continue from, and why.
#pragma once

#include <cstdint>

#include "base/codec/unused_why.hpp"

namespace tidepool::core {

struct UnusedState {
  std::int64_t step = 0;
  UnusedWhy why = UnusedWhy::kDamaged;
};

}  // namespace tidepool::core
