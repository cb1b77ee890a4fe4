// Why a job has its size, in numbers: what a slot is worth to it, what a slot costs, which of the other sizes comes
// nearest, and which job holds the slots that a waiting job does not get.
#pragma once

#include <vector>

#include "core/state/plan.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/curve.hpp"
#include "policies/tidal/market.hpp"

namespace tidepool::policies::tidal {

// Terms of the settlement from which the sizes come.
struct Terms {
  double price = 0;  // of a slot, in the objective's unit
  double free = 0;   // slots left unsold
  // The job that bought the slots worth least of all that were sold, and what each of them is worth to it; none =
  // unknown, or no job is outbid.
  JobId rival = {};
  double rival_worth = 0;
};
// Of a market as it was settled.
[[nodiscard]] Terms terms_of(const Market& market, double free);

// Either a slot is worth less to the job than its price: it is outbid. Or it is worth the price, and the free slots are
// too few for a size.
[[nodiscard]] core::Reason reason_to_wait(const cluster::JobRow& job, const Curve& curve, const Terms& terms,
                                          bool is_outbid);
// Every reason except a fixed one says what each slot is worth that the change or the next size would add.
[[nodiscard]] cluster::GrantReason reason_for(const cluster::JobRow& job, const Curve& curve, int size,
                                              const Terms& terms);

// What is left of a size's worth after its slots are paid: the score of the chosen size and of the sizes that lost.
[[nodiscard]] double score_of(const Curve& curve, int size, const Terms& terms);

// The next smaller and next larger size of the curve, what the job holds, and holding nothing, where they differ from
// `size`: best first.
[[nodiscard]] std::vector<core::Alternative> lost_for(const cluster::JobRow& job, const Curve& curve, int size,
                                                      const Terms& terms);

// Sets the reason and the score of a grant's size, and the sizes that lost to it.
void explain_grant(const cluster::JobRow& job, const Curve& curve, const Terms& terms, cluster::Grant& grant);

}  // namespace tidepool::policies::tidal
