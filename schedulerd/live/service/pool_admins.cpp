#include "schedulerd/live/service/pool_admins.hpp"

#include <algorithm>

namespace tidepool::live {

bool admits_pool_admin(const TokenRecord& token, std::int64_t unix_s) {
  const bool expired = token.expires_unix_s && unix_s >= *token.expires_unix_s;
  return token.role == "admin" && token.tenant.empty() && !token.revoked && !expired;
}

bool has_pool_admin(History& history, std::int64_t unix_s, const std::set<std::string>& without) {
  const auto tokens = history.tokens();
  return std::any_of(tokens.begin(), tokens.end(), [&](const TokenRecord& token) {
    return !without.contains(token.id) && admits_pool_admin(token, unix_s);
  });
}

}  // namespace tidepool::live
