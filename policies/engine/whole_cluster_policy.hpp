// A policy for the whole cluster as the engine sees it: the same AllocationPolicy that a replay runs, fed with rows
// made of the engine's records. Where the workers go is the engine's business; a policy's own placements are not used.
//
// A job that names another policy in scaling.policy, one that is a rule for single jobs (core::JobRule), is a fixed
// claim here. It starts at its preferred size when the plan gives it that, is never preempted or resized by the plan,
// and grows only while no job in the plan waits for slots. A size pinned by the user is such a claim, too.
#pragma once

#include <memory>
#include <string>

#include "base/id_set.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/engine/engine_rows.hpp"

namespace tidepool::policies::cluster {

// Plans by rows made of the engine's records; derived classes say what the jobs should have.
//
// A job that the policy declines, because its deadline cannot be kept, is asked about again as one without a deadline:
// best effort. It says so while it waits. Declined for now only: the next plan asks about the deadline anew.
class RowPlanner : public core::Planner {
 public:
  void follow(const core::ClusterState&, JobId job) final { followed_.insert(job); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) final;

 private:
  // Asked only while there are slots.
  [[nodiscard]] virtual Allocation allocate(const core::PlanRequest& request, const View& view,
                                            core::StepBudget& budget) const = 0;

  EngineRows rows_;
  IdSet<JobId> followed_;  // since the last plan
};

// Asks the policy about all jobs each time.
[[nodiscard]] std::unique_ptr<core::Planner> planner_of(std::shared_ptr<const AllocationPolicy> policy);

// What a fixed claim is started with again, should it lose everything; while it runs, the engine asks its user's wish
// or its own policy.
[[nodiscard]] core::Target claim_of(const core::Job& job);

class WholeClusterPolicy : public core::Policy {
 public:
  WholeClusterPolicy(std::string name, std::shared_ptr<const AllocationPolicy> policy);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<core::Planner> planner() const override;

 private:
  std::string name_;
  std::shared_ptr<const AllocationPolicy> policy_;
};

}  // namespace tidepool::policies::cluster
