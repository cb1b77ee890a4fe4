// A policy file on the daemon's own disk, as `schedulerd --policy FILE` names it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "schedulerd/live/service/policy_version.hpp"

namespace tidepool::live {

// Errors name the file and what to change.
[[nodiscard]] Result<PolicyVersion> read_policy_version(const std::string& path);

}  // namespace tidepool::live
