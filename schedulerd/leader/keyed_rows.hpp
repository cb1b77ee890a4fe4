// Rows that a turn has written under a key: lookups find them here before the storage has them, in the rest of the turn
// and, while the turn is being written, in later turns.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "schedulerd/leader/commands.hpp"
#include "schedulerd/leader/records.hpp"

namespace tidepool::leader {

class KeyedRows {
 public:
  void add(const Idempotency& request, StoredReceipt receipt) {
    receipts_.insert_or_assign({request.token_id, request.key}, std::move(receipt));
  }
  void add(JobId job, EndedNote note) { ended_.insert_or_assign(job, std::move(note)); }
  void add(TokenRecord token) { tokens_.push_back(std::move(token)); }
  void revoke_token(const std::string& id) { revoked_tokens_.insert(id); }
  void add(NodeToken token) { node_tokens_.insert_or_assign(token.id, std::move(token)); }
  void add(NodeCredential credential) { node_credentials_.insert_or_assign(credential.node, std::move(credential)); }
  void add(PolicyVersion version) { policies_.insert_or_assign({version.name, version.version}, std::move(version)); }

  // Null if it was not written here.
  [[nodiscard]] const StoredReceipt* receipt(const Idempotency& request) const;
  [[nodiscard]] const EndedNote* ended(JobId job) const;
  [[nodiscard]] const NodeToken* node_token(const std::string& id) const;
  [[nodiscard]] const NodeCredential* node_credential(const std::string& node) const;
  [[nodiscard]] const PolicyVersion* policy(const std::string& name, const std::string& version) const;
  // The tokens after this turn; `before` may already contain some of its own.
  [[nodiscard]] std::vector<TokenRecord> after(std::vector<TokenRecord> before) const;

 private:
  std::map<std::pair<std::string, std::string>, StoredReceipt> receipts_;  // by token and key
  std::map<JobId, EndedNote> ended_;
  std::vector<TokenRecord> tokens_;
  std::set<std::string> revoked_tokens_;
  std::map<std::string, NodeToken> node_tokens_;                           // by id
  std::map<std::string, NodeCredential> node_credentials_;                 // by the node's name
  std::map<std::pair<std::string, std::string>, PolicyVersion> policies_;  // by name and version
};

}  // namespace tidepool::leader
