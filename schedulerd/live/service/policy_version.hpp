// A stored version of a policy file: everything that its answers depend on, its tests, and the results of checking it.
// Its key is its name and the SHA-256 of what decides, so what a version decides never changes. If it is sent again
// with other tests, it gets those and is checked again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "policies/host/policy_file.hpp"
#include "schedulerd/leader/records.hpp"

namespace tidepool::live {

using leader::PolicyChecks;
using leader::PolicyVersion;

[[nodiscard]] nlohmann::json to_json(const PolicyChecks& checks);
[[nodiscard]] PolicyChecks checks_from_json(const nlohmann::json& value);

// Requires: a stored version. An error says that it was damaged, or that it was written for an older interface and what
// to change in it.
[[nodiscard]] Result<policies::host::PolicyFile> file_of(const PolicyVersion& version);
[[nodiscard]] PolicyVersion version_from(const policies::host::PolicyFile& file, const nlohmann::json& tests);

}  // namespace tidepool::live
