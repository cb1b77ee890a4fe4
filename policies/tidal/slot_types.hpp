// The slot types of a cluster as tidal sees them: how many slots of each, and what one is worth to most jobs in slots
// of the first type. That pace is what jobs reckon with before there is a price, and what stands in for speeds on a
// type that a job was never measured on.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/utility_curve.hpp"

namespace tidepool::policies::tidal {

// One per type; a view without types has one. The paces p are the fit of log g_it = a_i + log p_t, least squares over
// the jobs i and types t that were measured, with p_0 = 1; a type that shares no job with the others has pace 1.
[[nodiscard]] std::vector<SlotPool> pools_of(const cluster::View& view);

// Of the slots that a job holds; -1 = it holds none.
[[nodiscard]] int type_held(const cluster::View& view, const cluster::JobRow& job);

}  // namespace tidepool::policies::tidal
