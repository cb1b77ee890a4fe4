// The common end of every policy that keeps jobs at the size their users want: walk a queue, give each job its size
// while slots last.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

enum class Overtaking {
  kAllowed,  // a job that does not fit is passed over
  kNever,    // it keeps all behind it waiting
};

// `queue` names every row of view.jobs once. Marks are left as they are.
[[nodiscard]] Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking);

}  // namespace tidepool::policies::cluster
