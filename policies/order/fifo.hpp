// First come, first served within a priority: higher priority, then earlier submission, then smaller id.
// A job that was preempted keeps its time of submission, so it goes before those that came after it.
#pragma once

#include "policies/order/order.hpp"

namespace tidepool::policies {

class Fifo final : public OrderStage {
 public:
  [[nodiscard]] std::vector<JobId> order(const core::ClusterView& view, core::StepBudget& budget) const override;
  [[nodiscard]] std::optional<core::QueueRank> rank(const core::Job& job) const override;
};

}  // namespace tidepool::policies
