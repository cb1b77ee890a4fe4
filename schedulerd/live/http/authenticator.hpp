// The caller of a request: a bearer token "tp_<id>_<secret>", known by the SHA-256 of its secret. Tokens have a role
// and, if they are a team's, a tenant; they end by expiry or revocation, at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/shared_value.hpp"
#include "core/state/tenants.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

// Each role may do what those before it may.
enum class Role { kViewer, kSubmitter, kAdmin };
[[nodiscard]] std::optional<Role> parse_role(std::string_view text);

using TenantNames = std::set<std::string, std::less<>>;

struct Caller {
  std::string token_id;
  Role role = Role::kViewer;
  std::string tenant;  // empty = all
  std::optional<std::int64_t> expires_unix_s;
  std::shared_ptr<const TenantNames> below = nullptr;  // of the tree, those below its tenant; null = none

  // Its own tenant, those below it in the tree, and teams in it by name.
  [[nodiscard]] bool sees(const std::string& owner) const {
    return tenant.empty() || owner == tenant || (below != nullptr && below->contains(owner)) ||
           owner.starts_with(tenant + "/");
  }
  // Of the pool and all tenants.
  [[nodiscard]] bool is_pool_admin() const { return role == Role::kAdmin && tenant.empty(); }
};

// I/O thread only.
class Authenticator {
 public:
  // `unix_now` gives wall-clock seconds; expiry is the one thing that people state in them.
  Authenticator(History& history, std::function<std::int64_t()> unix_now);

  // Takes the value of the Authorization header. The error never says which part was wrong.
  [[nodiscard]] Result<Caller> identify(std::string_view authorization);

  // From now on the caller sees what lies below its tenant in this tree.
  void place(Caller& caller, const SharedValue<core::TenantsByName>& tree);

  [[nodiscard]] bool expired(const Caller& caller) const;
  // By now the caller would not be let in any more.
  [[nodiscard]] bool ended(const Caller& caller);
  // After a revocation; the next look reads the journal again.
  void forget_all() { known_.clear(); }

 private:
  std::optional<TokenRecord> find(const std::string& id);

  History& history_;
  std::function<std::int64_t()> unix_now_;
  std::map<std::string, TokenRecord> known_;  // good tokens seen lately, at most kKnownMax
  SharedValue<core::TenantsByName> tree_;     // that `below_` is of
  std::map<std::string, std::shared_ptr<const TenantNames>> below_;
};

}  // namespace tidepool::live::http
