#include "schedulerd/live/http/authenticator.hpp"

#include <utility>

#include "core/tenants/tenant_subtree.hpp"
#include "schedulerd/leader/token_validity.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::size_t kKnownMax = 1'024;
constexpr std::size_t kTokenMax = 256;

// The scheme is case-insensitive (RFC 9110 section 11.1), the token is not.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() || authorization.size() > kTokenMax) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != kScheme[i]) return std::nullopt;
  }
  return authorization.substr(kScheme.size());
}

}  // namespace

std::optional<Role> parse_role(std::string_view text) {
  if (text == "admin") return Role::kAdmin;
  if (text == "submitter") return Role::kSubmitter;
  if (text == "viewer") return Role::kViewer;
  return std::nullopt;
}

Authenticator::Authenticator(History& history, std::function<std::int64_t()> unix_now)
    : history_(history), unix_now_(std::move(unix_now)) {}

std::optional<TokenRecord> Authenticator::find(const std::string& id) {
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  auto record = history_.token(id);
  if (!record || record->revoked) return std::nullopt;
  if (known_.size() >= kKnownMax) known_.clear();
  known_.emplace(id, *record);
  return record;
}

Result<Caller> Authenticator::identify(std::string_view authorization) {
  const Error refusal = invalid_argument("the token is unknown, expired or revoked");
  const auto token = bearer_token(authorization);
  if (!token) return invalid_argument("send the header Authorization: Bearer tp_...");
  const auto parts = parse_token(*token);
  if (!parts) return refusal;
  const auto record = find(parts->id);
  // The hash is compared for unknown ids too, so that the time taken does not tell which ids exist.
  const std::string stored = record ? record->secret_sha256 : std::string(64, '0');
  const bool matches = equal_in_constant_time(sha256_hex(parts->secret), stored);
  const auto role = record ? parse_role(record->role) : std::nullopt;
  if (!matches || !role) return refusal;
  Caller caller{record->id, *role, record->tenant, record->expires_unix_s};
  if (expired(caller)) return refusal;
  return caller;
}

void Authenticator::place(Caller& caller, const SharedValue<core::TenantsByName>& tree) {
  if (caller.tenant.empty()) return;
  if (&*tree != &*tree_) {
    tree_ = tree;
    below_.clear();
  }
  auto& below = below_[caller.tenant];
  if (below == nullptr) {
    TenantNames names;
    for (const core::Tenant& tenant : core::tenants_below(*tree, caller.tenant)) names.insert(tenant.name);
    below = std::make_shared<const TenantNames>(std::move(names));
  }
  caller.below = below;
}

bool Authenticator::ended(const Caller& caller) {
  return expired(caller) || !find(caller.token_id);
}

bool Authenticator::expired(const Caller& caller) const {
  return leader::has_expired(caller.expires_unix_s, unix_now_());
}

}  // namespace tidepool::live::http
