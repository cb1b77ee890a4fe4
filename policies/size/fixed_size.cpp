#include "policies/size/fixed_size.hpp"

#include "policies/size/size_limits.hpp"

namespace tidepool::policies {

core::Target FixedSize::target(const core::ClusterView& view, const core::Job& job, core::StepBudget& budget) const {
  budget.spend();
  const AllowedSizes ladder = ladder_of(view.state, job);
  if (ladder.sizes.empty()) return {.reason = ladder.cut, .lost = {}, .mark = {}};
  const int size = ladder.start_size(job.spec.elastic.preferred);
  return {.size = size, .reason = core::reason::FixedSize{{.size = size}}, .lost = {}, .mark = {}};
}

}  // namespace tidepool::policies
