// A policy file as an allocation policy, for callers that can wait for it: the replay, tests and measurements. The
// fallback decides a round that fails, and the stages that the file leaves out.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "policies/host/policy_host.hpp"

namespace tidepool::policies::host {

class HostedPolicy final : public cluster::AllocationPolicy {
 public:
  struct Setup {
    PolicyHost& host;  // outlives the policy, and so does the fallback
    std::vector<Param> params;
    const cluster::AllocationPolicy& fallback;
    std::function<void(const PolicyFault&)> on_fault;  // called for each fault; may be empty
  };
  explicit HostedPolicy(Setup setup) : setup_(std::move(setup)) {}

  [[nodiscard]] cluster::Allocation allocate(const cluster::View& view, core::StepBudget& budget) const override;

 private:
  Setup setup_;
};

}  // namespace tidepool::policies::host
