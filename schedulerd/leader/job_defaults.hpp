// Default job settings of tenants: as the engine stores them, as files contain them, and filled into a job file.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Requires: from api::v1::read_job_defaults(), without errors.
[[nodiscard]] core::JobDefaults to_core_defaults(const nlohmann::json& defaults);

// The defaults as part of a job file; empty if there are none.
[[nodiscard]] nlohmann::json defaults_document(const core::JobDefaults& defaults);

// Fills fields that a job file of `tenant` omits from the nearest tenant on its path with a default, and returns the
// tenant of each filled field. A field named in the file is never filled, even if it is null there.
std::map<std::string, std::string> fill_defaults(nlohmann::json& file, const core::TenantsByName& tree,
                                                 const std::string& tenant);

}  // namespace tidepool::leader
