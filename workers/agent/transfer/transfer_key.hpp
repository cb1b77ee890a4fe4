// The key that identifies this agent to other agents while it runs: created at each start, never written to disk. Its
// fingerprints are distributed by the daemon, which knows each agent. So two agents that have never met can prove their
// identity to each other, even if the cluster's own links are plain ones on loopback.
#pragma once

#include <string>

#include "base/result.hpp"
#include "tls/certificate.hpp"

namespace tidepool::agent {

inline constexpr const char* kTransferHost = "tidepool-agent";  // the name in every such certificate

struct TransferKey {
  tls::Identity identity;       // with the authority that signed it, which exists only for this key
  std::string authority_print;  // by which a fetching agent verifies the sending one
  std::string print;            // of the certificate itself: by which the sending agent verifies the fetching one
};
[[nodiscard]] Result<TransferKey> make_transfer_key();

}  // namespace tidepool::agent
