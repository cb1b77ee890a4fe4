// The key by which this agent is known to other agents while it runs: made anew at each start, never written down. Its
// fingerprints go through the daemon, which knows each agent; so two agents that have never met prove to each other who
// they are, also where the cluster's own links are plain ones on loopback.
#pragma once

#include <string>

#include "base/result.hpp"
#include "tls/certificate.hpp"

namespace tidepool::agent {

inline constexpr const char* kTransferHost = "tidepool-agent";  // the name in every such certificate

struct TransferKey {
  tls::Identity identity;       // with the authority that has signed it, which exists for it alone
  std::string authority_print;  // by which a fetching agent knows the sending one
  std::string print;            // of the certificate itself: by which the sending agent knows the fetching one
};
[[nodiscard]] Result<TransferKey> make_transfer_key();

}  // namespace tidepool::agent
