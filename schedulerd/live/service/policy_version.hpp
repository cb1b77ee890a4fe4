// A version of a policy file as the daemon keeps it: everything that decides its answers, its tests, and what came of
// looking it over. Its key is its name and the SHA-256 of what decides, so what a version decides never changes. Sent
// again with other tests it has these, and is looked over anew.
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
