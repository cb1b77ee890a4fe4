// Default job settings of tenants: as the engine keeps them, as files write them, and filled into a job file.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Requires: of api::v1::read_job_defaults, without errors.
[[nodiscard]] core::JobDefaults to_core_defaults(const nlohmann::json& defaults);

// The part of a job file that they are; empty if there are none.
[[nodiscard]] nlohmann::json defaults_document(const core::JobDefaults& defaults);

// Fills what a job file of `tenant` leaves out by the nearest tenant on its path that has a default for it, and gives
// whose default each filled field took. A field that the file names is never filled, not even if it is null there.
std::map<std::string, std::string> fill_defaults(nlohmann::json& file, const core::TenantsByName& tree,
                                                 const std::string& tenant);

}  // namespace tidepool::leader
