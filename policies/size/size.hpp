// The size stage: how many workers one job should have, and why. Implementations are pure and keep no memory;
// what they must remember is in the job's records. The engine enforces free slots, cooldown and grace.
#pragma once

#include "core/decide/policy.hpp"

namespace tidepool::policies {

class SizeStage {
 public:
  virtual ~SizeStage() = default;
  // For a waiting job (no members): its size at start. For a running one: the size it should have now.
  [[nodiscard]] virtual core::SizeWish size(const core::ClusterView& view, const core::Job& job,
                                            core::StepBudget& budget) const = 0;
};

}  // namespace tidepool::policies
