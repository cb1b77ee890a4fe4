// A new version as a client sends it: {manifest, source | library, tests}. Strict: what could not be run or tested
// later is refused here, with the field that must change.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "schedulerd/live/service/policy_version.hpp"

namespace tidepool::live {

inline constexpr std::size_t kPolicyTestsMost = 500;  // over all files of a version

// `name` is that of the path; the manifest must not say another one. Findings go to `errors`.
[[nodiscard]] PolicyVersion read_policy_upload(const nlohmann::json& body, const std::string& name,
                                               std::vector<FieldError>& errors);

}  // namespace tidepool::live
