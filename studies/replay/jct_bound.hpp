// A mean completion time that no policy can pass under the rules of a replay, however much it knew in advance. The
// largest of three lower bounds, each by giving up part of the rules:
//   alone   every job has the whole cluster to itself;
//   srpt    slots are one pool, in which a job needs only the slot-seconds that it takes at its most efficient size;
//           shortest remaining work first is then the best of all (Schrage, Operations Research 16(3), 1968);
//   busy    both: in the pool, mean busy times are least when the smallest job goes first (Goemans, SODA 1997), and a
//           job ends after its mean busy time by at least what its own fastest pace demands.
// Step times are those of packed placements at the best batch. Two things are left aside: that a placement which is
// not packed might be measured as faster, and that the ends of epochs are rounded to whole seconds, up as often as
// down.
#pragma once

#include <vector>

#include "studies/models/batch_split.hpp"
#include "studies/replay/measured_application.hpp"

namespace tidepool::sim {

// What a job needs at least, in seconds.
struct LeastNeed {
  double seconds = 0;       // from its first step to its end, on the whole cluster
  double slot_seconds = 0;  // at its most efficient sizes
  double lag_s = 0;         // from its mean busy time to its end, at its fastest pace
};

struct NeedSetup {
  const MeasuredApplication& application;
  policies::BatchLimits limits;
  int fixed_batch = 0;  // 0 = the job chooses the best one for each size and epoch
  int size_max = 1;
  int slots_per_node = 1;
};
[[nodiscard]] LeastNeed least_need(const NeedSetup& setup);

struct NeedyJob {
  double submitted_s = 0;
  double ready_s = 0;  // before it, it cannot step
  LeastNeed need;
};
struct JctBounds {
  double alone_s = 0;
  double srpt_s = 0;
  double busy_s = 0;
  [[nodiscard]] double best_s() const;
};
[[nodiscard]] JctBounds jct_bounds(const std::vector<NeedyJob>& jobs, int slots);

}  // namespace tidepool::sim
