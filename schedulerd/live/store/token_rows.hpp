// Tokens of the REST API as stored in the database.
#pragma once

#include "schedulerd/leader/records.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// From a row with the columns id, name, role, tenant, secret_sha256, created_at, expires_unix_s, revoked.
[[nodiscard]] leader::TokenRecord token_at(const Row& row);

}  // namespace tidepool::live
