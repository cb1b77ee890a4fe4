// Why a job has the size it has, in numbers: what a slot is worth to it, what a slot costs, which of the other sizes
// comes nearest, and which job holds the slots that a waiting one does not get.
#pragma once

#include <vector>

#include "core/state/plan.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/curve.hpp"
#include "policies/tidal/market.hpp"

namespace tidepool::policies::tidal {

// Of the settlement that the sizes come from.
struct Terms {
  double price = 0;  // of a slot, in the objective's unit
  double free = 0;   // slots left unsold
  // The job that bought the slots worth least of all that were sold, and what each of them is worth to it; none = not
  // known, or no job is outbid.
  JobId rival = {};
  double rival_worth = 0;
};
// Of a market as it was settled.
[[nodiscard]] Terms terms_of(const Market& market, double free);

// A slot is worth less to it than its price: it is outbid; or it is worth that, and what is free does not make a size.
[[nodiscard]] core::Reason reason_to_wait(const cluster::JobRow& job, const Curve& curve, const Terms& terms,
                                          bool is_outbid);
// Every reason but a fixed one tells what each slot is worth that the change or the next size would add.
[[nodiscard]] cluster::GrantReason reason_for(const cluster::JobRow& job, const Curve& curve, int size,
                                              const Terms& terms);

// What is left of a size's worth when its slots are paid for: the chosen one's score, as those of the ones that lost.
[[nodiscard]] double score_of(const Curve& curve, int size, const Terms& terms);

// The next smaller and next larger size of the curve, what the job holds and holding nothing, so far as they differ
// from `size`: best first.
[[nodiscard]] std::vector<core::Alternative> lost_for(const cluster::JobRow& job, const Curve& curve, int size,
                                                      const Terms& terms);

// Gives a grant of its size its reason, its score and the sizes that lost to it.
void explain_grant(const cluster::JobRow& job, const Curve& curve, const Terms& terms, cluster::Grant& grant);

}  // namespace tidepool::policies::tidal
