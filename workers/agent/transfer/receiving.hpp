// The receiving side of a transfer: presents its ticket, resumes after what an earlier attempt received, and assembles
// the file chunk by chunk.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "workers/agent/transfer/peer_link.hpp"
#include "workers/agent/transfer/saved_files.hpp"

namespace tidepool::agent {

struct Receiving {
  const SavedFiles& files;
  JobId job;
  std::int64_t step = 0;
  std::string ticket;
  // Called when bytes have arrived, or when more of the earlier part has been verified.
  std::function<void()> bytes_came;
  std::stop_token stop = {};
};

// Returns the size of the state, which is then complete and on disk.
[[nodiscard]] Result<std::int64_t> receive_state(PeerLink& link, const Receiving& receiving);

}  // namespace tidepool::agent
