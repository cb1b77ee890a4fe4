// What finishing a job at a time is worth to its owner, as the owner stated it.
#pragma once

#include "base/time.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::policies {

[[nodiscard]] bool has_utility(const core::ScalingSpec& scaling);

// In currency units, for finishing `after` the submission. Linear: value (1 - t / zero_at). Piecewise: straight
// lines between the points, flat before the first, the last line continued after the last; so both go negative.
// Requires: has_utility(scaling).
[[nodiscard]] double utility_at(const core::ScalingSpec& scaling, double after_seconds);

}  // namespace tidepool::policies
