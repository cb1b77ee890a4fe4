// The active policy file as the engine sees it: a policy that plans by what the file has answered, which is in the
// state (core/state/policy_deployment.hpp). It asks no file, so the same state gives the same plan wherever it is made.
//
// Rules. The answer speaks of jobs by id and is read against the rows of today: sizes that do not fit any more become
// the largest smaller ones that do. A job that the answer does not know, or whose user has asked for something else
// since, keeps what it holds, before the others are served; the engine then has the file asked again at once. A round
// that failed is decided by the fallback; a stage that the file leaves out (order, size) is the fallback's, too, asked
// about the jobs that the file lets run.
#pragma once

#include <memory>

#include "policies/engine/whole_cluster_policy.hpp"

namespace tidepool::policies::host {

class FilePolicy final : public cluster::WholeClusterPolicy {
 public:
  explicit FilePolicy(std::shared_ptr<const cluster::AllocationPolicy> fallback);

  [[nodiscard]] std::unique_ptr<core::Planner> planner() const override;

 private:
  std::shared_ptr<const cluster::AllocationPolicy> fallback_;
};

// The policy that decides a round in which a file failed: tidal.
[[nodiscard]] std::shared_ptr<const cluster::AllocationPolicy> built_in_fallback();

}  // namespace tidepool::policies::host
