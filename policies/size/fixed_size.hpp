// Every job keeps its preferred size: the plain baseline for elastic sizing. Its only change of size is back to the
// preferred one after workers were lost.
#pragma once

#include "core/decide/policy.hpp"

namespace tidepool::policies {

class FixedSize final : public core::JobRule {
 public:
  [[nodiscard]] core::Target target(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies
