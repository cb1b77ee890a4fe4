// Every job keeps its preferred size: the plain baseline that elastic sizing has to beat.
// Its only change of size is back to the preferred one after workers were lost.
#pragma once

#include "policies/size/size.hpp"

namespace tidepool::policies {

class FixedSize final : public SizeStage {
 public:
  [[nodiscard]] core::SizeWish size(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies
