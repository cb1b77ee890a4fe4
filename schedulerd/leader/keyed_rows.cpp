#include "schedulerd/leader/keyed_rows.hpp"

#include <algorithm>

namespace tidepool::leader {
namespace {

template <class Map>
const typename Map::mapped_type* found_in(const Map& rows, const typename Map::key_type& key) {
  const auto found = rows.find(key);
  return found == rows.end() ? nullptr : &found->second;
}

}  // namespace

const StoredReceipt* KeyedRows::receipt(const Idempotency& request) const {
  return found_in(receipts_, {request.token_id, request.key});
}

const EndedNote* KeyedRows::ended(JobId job) const {
  return found_in(ended_, job);
}

const NodeToken* KeyedRows::node_token(const std::string& id) const {
  return found_in(node_tokens_, id);
}

const NodeCredential* KeyedRows::node_credential(const std::string& node) const {
  return found_in(node_credentials_, node);
}

const PolicyVersion* KeyedRows::policy(const std::string& name, const std::string& version) const {
  return found_in(policies_, {name, version});
}

std::vector<TokenRecord> KeyedRows::after(std::vector<TokenRecord> before) const {
  for (const TokenRecord& token : tokens_) {
    const bool is_there =
        std::any_of(before.begin(), before.end(), [&](const TokenRecord& any) { return any.id == token.id; });
    if (!is_there) before.push_back(token);
  }
  for (TokenRecord& token : before) token.revoked = token.revoked || revoked_tokens_.contains(token.id);
  return before;
}

}  // namespace tidepool::leader
