// Tiresias, discretized two-dimensional LAS (Gu et al., NSDI 2019, section 4), as Pollux's evaluation runs it (Qiao et
// al., OSDI 2021, section 5.1): every job at the size its user wants; two queues; a job that has been given 16
// GPU-hours (time held x size) goes to the end of the second queue and never returns; within a queue first come, first
// served; a job that does not fit is passed over by those behind it. Departs from Tiresias in that: no Gittins index,
// no promotion of starved jobs, no placement by tensor skew. A job's mark: level = its queue (0 or 1), since = when it
// came there.
#pragma once

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {

// Each row's mark as it is now, and the rows in the order in which they are served: by queue, within a queue by when
// they entered it, then by submission.
struct TwoQueues {
  std::vector<Mark> marks;
  std::vector<std::size_t> order;
};
[[nodiscard]] TwoQueues two_queues(const View& view);

// The line by the queues in the marks' levels, from 0.
[[nodiscard]] Line line_of_queues(const std::vector<Mark>& marks);

class Tiresias final : public AllocationPolicy {
 public:
  static constexpr double kQueueThreshold = 57'600;  // GPU-seconds

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
