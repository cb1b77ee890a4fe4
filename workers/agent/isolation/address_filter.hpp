// Address rules in the kernel. They are attached to a worker's control group (version 2), where only root can change
// them, hold without this agent, and go with the group. No firewall rule is made or touched.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/isolation/address_rules.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

class AddressFilter {
 public:
  // The error says why this kernel does not take them.
  [[nodiscard]] static Result<AddressFilter> load(const AddressRules& rules);

  // In the place of rules that the group has had. Sockets that are made in the group from then on keep them.
  [[nodiscard]] Status attach(const std::filesystem::path& group) const;

 private:
  struct Check {
    UniqueFd program;
    bpf_attach_type at;
  };
  std::vector<Check> checks_;
};

}  // namespace tidepool::agent
