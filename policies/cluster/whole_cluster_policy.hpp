// A policy for the whole cluster as the engine sees it: the same AllocationPolicy that a replay runs, fed with rows
// made of the engine's records. Where the workers go is the engine's business; a policy's own placements are not used.
//
// A job that names another policy in scaling.policy, one that sizes single jobs, goes its own way: it is a fixed claim
// here. It starts at its preferred size when the plan gives it that, is never preempted or resized by the plan, and
// grows only while nobody in the plan waits for slots. A size pinned by the user is such a claim, too.
#pragma once

#include <memory>
#include <string>

#include "policies/cluster/allocation_policy.hpp"
#include "schedulerd/core/policy.hpp"

namespace tidepool::policies::cluster {

class WholeClusterPolicy final : public core::Policy {
 public:
  WholeClusterPolicy(std::string name, std::shared_ptr<const AllocationPolicy> policy);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] bool plans_cluster() const override { return true; }
  [[nodiscard]] std::unique_ptr<core::ClusterPlanner> planner() const override;

  // Of jobs that no plan names: they wait, or keep what they hold.
  [[nodiscard]] std::vector<JobId> order(const core::ClusterView& view, core::StepBudget& budget) const override;
  [[nodiscard]] bool strict_order() const override { return false; }
  [[nodiscard]] core::SizeWish size(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override;

 private:
  std::string name_;
  std::shared_ptr<const AllocationPolicy> policy_;
};

}  // namespace tidepool::policies::cluster
