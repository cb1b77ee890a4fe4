// A node token as it is typed: "tpn_ID_SECRET_FINGERPRINT". The fingerprint is that of the daemon's authority, so that
// the machine that joins need not trust whatever answers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool::api {

struct NodeTokenText {
  std::string id;
  std::string secret;          // the daemon keeps its hash
  std::string ca_fingerprint;  // "sha256:" and 64 digits
};

[[nodiscard]] std::string to_text(const NodeTokenText& token);
[[nodiscard]] Result<NodeTokenText> read_node_token(std::string_view text);

}  // namespace tidepool::api
