// Policy versions as stored in the database.
#pragma once

#include "schedulerd/live/service/policy_version.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// From a row with the columns name, version, created_at, created_by, manifest, source, tests, checks.
[[nodiscard]] PolicyVersion policy_at(const Row& row);

}  // namespace tidepool::live
