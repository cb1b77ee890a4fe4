// A policy file in `schedctl sim run`: its rounds are asked of a real policy host, and those that go wrong are decided
// by the built-in default and counted.
#pragma once

#include <memory>
#include <string>

#include "policies/host/hosted_policy.hpp"

namespace tidepool::ctl {

class ReplayedPolicy {
 public:
  // Throws Failure if the file cannot be read or run.
  explicit ReplayedPolicy(const std::string& path);

  [[nodiscard]] const policies::cluster::AllocationPolicy& policy() const { return *policy_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // "3 rounds were decided by ...": empty while there is none.
  [[nodiscard]] std::string complaint() const;

 private:
  std::string name_;
  std::string first_fault_;
  int faults_ = 0;
  std::unique_ptr<policies::host::PolicyHost> host_;
  std::unique_ptr<const policies::cluster::AllocationPolicy> fallback_;
  std::unique_ptr<policies::host::HostedPolicy> policy_;
};

}  // namespace tidepool::ctl
