// The slot types of a cluster for tidal: how many slots of each, and what one is worth to most jobs in slots of the
// first type (its pace). Jobs use the pace before there is a price, and where they were never measured on a type.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/utility_curve.hpp"

namespace tidepool::policies::tidal {

// One per type; a view without types has one. The paces p are the fit of log g_it = a_i + log p_t, least squares over
// the measured jobs i and types t, with p_0 = 1; a type that shares no job with the others has pace 1.
[[nodiscard]] std::vector<SlotPool> pools_of(const cluster::View& view);

// The type of the slots that a job holds; -1 = it holds none.
[[nodiscard]] int type_held(const cluster::View& view, const cluster::JobRow& job);

}  // namespace tidepool::policies::tidal
