// The caller of a request: a bearer token "tp_<id>_<secret>", known by the SHA-256 of its secret. Tokens have a role
// and, if they are a team's, a tenant; they end by expiry or revocation, at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

// Each role may do what those before it may.
enum class Role { kViewer, kSubmitter, kAdmin };
[[nodiscard]] std::optional<Role> parse_role(std::string_view text);

struct Caller {
  std::string token_id;
  Role role = Role::kViewer;
  std::string tenant;  // empty = all
  std::optional<std::int64_t> expires_unix_s;

  // Its own tenant and the teams below it.
  [[nodiscard]] bool sees(const std::string& owner) const {
    return tenant.empty() || owner == tenant || owner.starts_with(tenant + "/");
  }
};

// I/O thread only.
class Authenticator {
 public:
  // `unix_now` gives wall-clock seconds; expiry is the one thing that people state in them.
  Authenticator(History& history, std::function<std::int64_t()> unix_now);

  // Takes the value of the Authorization header. The error never says which part was wrong.
  [[nodiscard]] Result<Caller> identify(std::string_view authorization);

  [[nodiscard]] bool expired(const Caller& caller) const;
  // After a revocation; the next look reads the journal again.
  void forget_all() { known_.clear(); }

 private:
  std::optional<TokenRecord> find(const std::string& id);

  History& history_;
  std::function<std::int64_t()> unix_now_;
  std::map<std::string, TokenRecord> known_;  // good tokens seen lately, at most kKnownMax
};

}  // namespace tidepool::live::http
