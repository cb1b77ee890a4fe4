// Policies to which all slots are alike, on a cluster of several slot types. A job may have only slots of types on
// which it was measured: on others it would hold them for ever without a step. Such a policy is asked first about the
// jobs that are bound to some types and about these alone (policies/engine/type_shares.hpp), then about all, unless it
// lays jobs out itself; bound jobs are laid out before the others, which make room for them, and a job that finds none
// waits. Without bound jobs everything is as without this file.
#pragma once

#include <vector>

#include "policies/cluster/allocation_policy.hpp"
#include "policies/place/place.hpp"
#include "studies/replay/type_speeds.hpp"

namespace tidepool::sim {

// A job's speed as such a policy sees it: that on the first type on which the job was measured.
class KnownTypes final : public policies::cluster::SpeedModel {
 public:
  // `speeds` outlives it.
  KnownTypes(const TypeSpeeds& speeds, int types);

  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  [[nodiscard]] bool everywhere() const { return everywhere_; }
  // Those of these nodes, by their index, on whose type the job was measured.
  [[nodiscard]] std::vector<int> among(const std::vector<policies::cluster::NodeRow>& nodes) const;

 private:
  const TypeSpeeds& speeds_;
  std::vector<bool> known_;  // by type
  int first_ = 0;
  bool everywhere_ = true;
};

// Whether what the policy grants names slot types. Requires: a job and two types in the view.
[[nodiscard]] bool names_types(const policies::cluster::AllocationPolicy& policy, const policies::cluster::View& view);

struct LaidOut {
  policies::cluster::Allocation allocation;
  std::vector<policies::cluster::Placement> placements;
};
// Sizes and places of all jobs, the bound ones on their nodes. Errors: the policy broke a law (kInternal).
[[nodiscard]] Result<LaidOut> ask_within_bounds(const policies::cluster::AllocationPolicy& policy,
                                                const policies::PlaceStage& stage, const policies::cluster::View& view,
                                                core::StepBudget& budget);

}  // namespace tidepool::sim
