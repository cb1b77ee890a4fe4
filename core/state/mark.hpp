// What a policy remembers from plan to plan: a mark in the state, because a policy stores nothing itself.
#pragma once

#include <vector>

#include "base/time.hpp"

namespace tidepool::core {

// A policy's note on a job, or on the cluster, stored for the policy and returned to it when it plans again.
struct Mark {
  int level = 0;                // such as the queue of the job
  Instant since;                // when it entered that level
  std::vector<double> numbers;  // other data the policy must remember; few, finite, in the policy's own order
  bool operator==(const Mark&) const = default;
};

}  // namespace tidepool::core
