// One immutable membership of a job, as a worker sees it. Numbers only grow: a message with an older number has no
// effect.
#pragma once

#include <algorithm>
#include <vector>

#include "base/ids.hpp"

namespace tidepool::runtime {

struct Generation {
  GenerationNumber number = 0;    // 0 = none yet
  std::vector<WorkerId> members;  // rank order
  bool after_failure = false;     // a member died: the generation begins at once, not at an agreed step
  bool park = false;              // no member continues: the state is kept and all leave

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }

  // The worker's rank, or -1 if it is not a member.
  [[nodiscard]] int rank_of(WorkerId worker) const {
    const auto found = std::find(members.begin(), members.end(), worker);
    return found == members.end() ? -1 : static_cast<int>(found - members.begin());
  }
};

}  // namespace tidepool::runtime
