// The active policy file in an engine: a policy that plans with the file's answer, which is in the state
// (core/state/policy_deployment.hpp). It asks no file, so the same state gives the same plan wherever it is made.
//
// Rules. The answer refers to jobs by id and is applied to the present rows: a size that no longer fits becomes the
// largest smaller size that does. A job that is not in the answer, or whose user has changed a request since, keeps
// what it holds before the others are served; the engine then has the file asked again at once. The fallback decides a
// round that failed; it also decides a stage that the file leaves out (order, size), asked about the jobs that the file
// lets run.
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
