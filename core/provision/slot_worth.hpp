// What slots bring to a job, as a share of what they bring at its smallest size: 1 = as much, 0 = nothing. From what
// was measured at its sizes; beyond those by the law of scalability that tidal starts with
// (policies/engine/job_speed.hpp): s(n) = n / (1 + 0.05 (n - 1)), through the nearest measured size.
#pragma once

#include "core/state/job.hpp"

namespace tidepool::core {

// Of each worker beyond `from` workers, up to `to`. Requires: 0 <= from < to.
[[nodiscard]] double use_of_more(const Job& job, int from, int to);

}  // namespace tidepool::core
