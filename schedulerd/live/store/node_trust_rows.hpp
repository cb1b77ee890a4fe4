// The tables of node tokens and of what node names are known by. Databases that have none yet get them when they are
// opened; versions that know nothing of them leave them alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/leader/records.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class NodeTrustRows {
 public:
  // Once, by the connection that writes.
  [[nodiscard]] static Status make_tables(Database& database);
  // To read: after make_tables(), by any connection.
  [[nodiscard]] Status prepare(Database& database);
  // To write, too.
  [[nodiscard]] Status prepare_writing(Database& database);

  // In place of what is there of it.
  [[nodiscard]] Status put(const leader::NodeToken& token);
  [[nodiscard]] Status put(const leader::NodeCredential& credential);

  // By id, or by the node's name; empty = all, in that order.
  [[nodiscard]] Result<std::vector<leader::NodeToken>> tokens(const std::string& id);
  [[nodiscard]] Result<std::vector<leader::NodeCredential>> credentials(const std::string& node);

 private:
  Statement put_token_, put_credential_, tokens_, credentials_;
};

}  // namespace tidepool::live
