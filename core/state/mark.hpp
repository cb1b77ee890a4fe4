// What a policy remembers from plan to plan: a mark in the state, because a policy keeps nothing itself.
#pragma once

#include <vector>

#include "base/time.hpp"

namespace tidepool::core {

// A policy's note on a job, or on the cluster, kept for it and handed back when it plans again.
struct Mark {
  int level = 0;                // such as the queue that the job is in
  Instant since;                // when it came there
  std::vector<double> numbers;  // what else it must remember; few, finite, in an order of its own
  bool operator==(const Mark&) const = default;
};

}  // namespace tidepool::core
