// Address rules in the kernel. They are attached to a worker's control group (version 2), where only root can change
// them; they apply without this agent and end with the group. Firewall rules are neither created nor changed.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/isolation/address_rules.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

class AddressFilter {
 public:
  // The error says why this kernel does not accept them.
  [[nodiscard]] static Result<AddressFilter> load(const AddressRules& rules);

  // Replaces earlier rules of the group. Sockets that are created in the group afterwards keep these rules.
  [[nodiscard]] Status attach(const std::filesystem::path& group) const;

 private:
  struct Check {
    UniqueFd program;
    bpf_attach_type at;
  };
  std::vector<Check> checks_;
};

}  // namespace tidepool::agent
