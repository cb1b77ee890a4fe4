// Tokens of admins of the whole pool. Rule: one valid is always left, because only such an admin can make another.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// Of no tenant, neither revoked nor expired.
[[nodiscard]] bool admits_pool_admin(const TokenRecord& token, std::int64_t unix_s);

// Whether there is one beside those with these ids.
[[nodiscard]] bool has_pool_admin(History& history, std::int64_t unix_s, const std::set<std::string>& without);

}  // namespace tidepool::live
