#include "policies/composed_policy.hpp"

#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {

ComposedPolicy::ComposedPolicy(Stages stages) : stages_(std::move(stages)) {
  TP_CHECK(stages_.order != nullptr && stages_.size != nullptr, "a policy has both its stages");
}

std::vector<JobId> ComposedPolicy::order(const core::ClusterView& view, core::StepBudget& budget) const {
  return stages_.order->order(view, budget);
}

core::SizeWish ComposedPolicy::size(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const {
  if (job.pinned_size == 0) return stages_.size->size(view, job, budget);
  const int from = job.size();
  const int to = job.pinned_size;
  core::Reason reason = core::reason::PinnedByUser{{.size = to}};
  if (from != 0 && from != to) {
    reason = core::reason::ResizedByUser{{.from = from, .to = to}};
  }
  return {.job = job.id, .size = to, .reason = std::move(reason)};
}

}  // namespace tidepool::policies
