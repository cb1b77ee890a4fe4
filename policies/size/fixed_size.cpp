#include "policies/size/fixed_size.hpp"

#include "policies/size/size_limits.hpp"

namespace tidepool::policies {

core::SizeWish FixedSize::size(const core::ClusterView& view, const core::Job& job, core::StepBudget& budget) const {
  budget.spend();
  const SizeLadder ladder = ladder_of(view.state, job);
  if (ladder.sizes.empty()) return {.job = job.id, .size = 0, .reason = ladder.cut};
  const int size = ladder.start_size(job.spec.elastic.preferred);
  return {.job = job.id, .size = size, .reason = core::reason::FixedSize{{.size = size}}};
}

}  // namespace tidepool::policies
