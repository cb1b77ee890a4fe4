// Why a job has the size it has, in numbers: what the size is worth to it, what a slot costs, which of the other sizes
// comes nearest, and for a job that waits at which price it would start.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/curve.hpp"
#include "schedulerd/core/plan.hpp"

namespace tidepool::policies::tidal {

// Of the settlement that the sizes come from.
struct Terms {
  double price = 0;  // of a slot, in the objective's unit
  double free = 0;   // slots that nobody bought
};

// Beside the numbers that its code asks for, every reason has: worth (of the size), price, and when it waits bid (worth
// per slot of the first size it would take: it starts when the price is below).
[[nodiscard]] core::Reason reason_for(const cluster::JobRow& job, const Curve& curve, int size, const Terms& terms);

// The next smaller and next larger size of the curve, what the job holds and holding nothing, so far as they differ
// from `size`: best first, scored by what is left of their worth when their slots are paid for.
[[nodiscard]] std::vector<core::Alternative> lost_for(const cluster::JobRow& job, const Curve& curve, int size,
                                                      const Terms& terms);

}  // namespace tidepool::policies::tidal
