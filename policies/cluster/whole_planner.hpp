// A policy for the whole cluster inside an engine, asked about all jobs each time: rows are made of the engine's records
// (engine_rows.hpp), the policy sizes them, and its answer is cut to what can be carried out (lawful_plan.hpp).
#pragma once

#include <memory>

#include "policies/cluster/allocation_policy.hpp"
#include "policies/cluster/engine_rows.hpp"
#include "schedulerd/core/policy.hpp"

namespace tidepool::policies::cluster {

class WholePlanner final : public core::ClusterPlanner {
 public:
  explicit WholePlanner(std::shared_ptr<const AllocationPolicy> policy, RowStyle style = RowStyle::kAllSizes);

  void follow(const core::ClusterState& state, JobId job) override { rows_.follow(state, job); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override;

 private:
  std::shared_ptr<const AllocationPolicy> policy_;
  EngineRows rows_;
};

// What a fixed claim is started with again, should it lose everything; while it runs, the engine asks its user's wish or
// its own policy.
[[nodiscard]] core::Allotment claim_of(const core::Job& job);

}  // namespace tidepool::policies::cluster
