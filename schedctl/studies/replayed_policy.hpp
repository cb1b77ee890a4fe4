// A policy file in `schedctl sim run`: its rounds are asked of a real policy host, and those that go wrong are decided
// by the built-in default and counted. It belongs to the thread that makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "policies/host/hosted_policy.hpp"
#include "sim/simulator.hpp"

namespace tidepool::ctl {

class ReplayedPolicy {
 public:
  // `params` by name, as at an activation. Throws Failure if the file cannot be read or run, or has no such parameters.
  ReplayedPolicy(const std::string& path, const nlohmann::json& params);
  ReplayedPolicy(const ReplayedPolicy&) = delete;  // what it gives out points to it
  ReplayedPolicy& operator=(const ReplayedPolicy&) = delete;

  // Under rules with rounds.
  [[nodiscard]] const policies::cluster::AllocationPolicy& policy() const { return *policy_; }
  // Under the daemon's own rules, by what the daemon asks files with.
  [[nodiscard]] sim::ActivePolicyFile in_charge();
  [[nodiscard]] const std::string& name() const { return name_; }
  // "3 rounds were decided by ...": empty while there is none.
  [[nodiscard]] std::string complaint() const;

 private:
  class Questions;
  void note_fault(const std::string& fault);

  std::string name_;
  core::PolicyFileRef ref_;
  std::vector<policies::host::Param> params_;
  std::string first_fault_;
  std::int64_t faults_ = 0;
  std::optional<Instant> rolled_back_at_;
  std::unique_ptr<policies::host::PolicyHost> host_;
  std::unique_ptr<const policies::cluster::AllocationPolicy> fallback_;
  std::unique_ptr<policies::host::HostedPolicy> policy_;
};

}  // namespace tidepool::ctl
