// The tables of node tokens and of the keys of node names. Databases without them get them when they are opened;
// earlier versions ignore them.
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
  // For reading: after make_tables(), by any connection.
  [[nodiscard]] Status prepare(Database& database);
  // For reading and writing.
  [[nodiscard]] Status prepare_writing(Database& database);

  // Replaces its stored value.
  [[nodiscard]] Status put(const leader::NodeToken& token);
  [[nodiscard]] Status put(const leader::NodeCredential& credential);

  // By id, or by the node's name; empty = all, in that order.
  [[nodiscard]] Result<std::vector<leader::NodeToken>> tokens(const std::string& id);
  [[nodiscard]] Result<std::vector<leader::NodeCredential>> credentials(const std::string& node);

 private:
  Statement put_token_, put_credential_, tokens_, credentials_;
};

}  // namespace tidepool::live
