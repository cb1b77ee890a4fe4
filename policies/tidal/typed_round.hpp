// tidal on a cluster of several slot types: one price per type, from scratch each time. The weights count jobs as on
// one type (README.md); the difference is that a job weighs its sizes on every type, and that all its slots are of one
// type.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::tidal {

// All but the order of placement. Requires: at least two types.
[[nodiscard]] cluster::Allocation decide_by_type(const cluster::View& view, core::StepBudget& budget);

}  // namespace tidepool::policies::tidal
