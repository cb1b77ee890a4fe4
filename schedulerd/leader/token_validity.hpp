// Which tokens are valid. Rule: one valid token of an admin of the whole pool always remains, because only such an
// admin can create another; the leader enforces this, because it knows the revocations of its own turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedulerd/leader/records.hpp"

namespace tidepool::leader {

// None: it does not expire.
[[nodiscard]] bool has_expired(const std::optional<std::int64_t>& expires_unix_s, std::int64_t unix_s);

// A token of an admin of no tenant, neither revoked nor expired.
[[nodiscard]] bool admits_pool_admin(const TokenRecord& token, std::int64_t unix_s);

// Whether there is one besides the token with this id.
[[nodiscard]] bool has_pool_admin(const std::vector<TokenRecord>& tokens, std::int64_t unix_s,
                                  const std::string& without = "");

}  // namespace tidepool::leader
