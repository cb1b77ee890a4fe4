// A policy for the whole cluster in an engine: the same AllocationPolicy that a replay runs, with rows made from the
// engine's records. The engine places the workers; a policy's own placements are not used.
//
// A job that names another policy in scaling.policy, a rule for single jobs (core::JobRule), is a fixed claim here. It
// starts at its preferred size when the plan gives it that, is never preempted or resized by the plan, and grows only
// while no job in the plan waits for slots. A size pinned by the user is also such a claim.
#pragma once

#include <memory>
#include <string>

#include "base/id_set.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/engine/engine_rows.hpp"

namespace tidepool::policies::cluster {

// Plans with rows made from the engine's records; derived classes say what the jobs should have.
//
// A job that the policy declines, because its deadline cannot be kept, is asked about again as a job without a
// deadline: best effort. Its reason says so while it waits. It is declined only for now: the next plan asks about the
// deadline again.
class RowPlanner : public core::Planner {
 public:
  void follow(const core::ClusterState&, JobId job) final { followed_.insert(job); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) final;

 private:
  // Called only while there are slots.
  [[nodiscard]] virtual Allocation allocate(const core::PlanRequest& request, const View& view,
                                            core::StepBudget& budget) const = 0;

  EngineRows rows_;
  IdSet<JobId> followed_;  // since the last plan
};

// Asks the policy about all jobs each time.
[[nodiscard]] std::unique_ptr<core::Planner> planner_of(std::shared_ptr<const AllocationPolicy> policy);

// The size with which a fixed claim is started again if it loses everything; while it runs, the engine reads its user's
// pinned size or its own policy.
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
