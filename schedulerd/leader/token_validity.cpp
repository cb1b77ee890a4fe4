#include "schedulerd/leader/token_validity.hpp"

#include <algorithm>

namespace tidepool::leader {

bool has_expired(const std::optional<std::int64_t>& expires_unix_s, std::int64_t unix_s) {
  return expires_unix_s && unix_s >= *expires_unix_s;
}

bool admits_pool_admin(const TokenRecord& token, std::int64_t unix_s) {
  return token.role == "admin" && token.tenant.empty() && !token.revoked && !has_expired(token.expires_unix_s, unix_s);
}

bool has_pool_admin(const std::vector<TokenRecord>& tokens, std::int64_t unix_s, const std::string& without) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const TokenRecord& token) { return token.id != without && admits_pool_admin(token, unix_s); });
}

}  // namespace tidepool::leader
