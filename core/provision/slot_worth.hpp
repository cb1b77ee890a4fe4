// The use of slots to a job, as a share of their use at its smallest size: 1 = the same, 0 = none. Based on the
// measurements at its sizes; beyond those on the law of scalability with which tidal starts
// (policies/engine/job_speed.hpp): s(n) = n / (1 + 0.05 (n - 1)), through the nearest measured size.
#pragma once

#include "core/state/job.hpp"

namespace tidepool::core {

// The use per worker beyond `from` workers, up to `to`. Requires: 0 <= from < to.
[[nodiscard]] double use_of_more(const Job& job, int from, int to);

}  // namespace tidepool::core
