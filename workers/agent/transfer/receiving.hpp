// The receiving side of a transfer: shows its ticket, goes on from what an earlier attempt has left, and puts the file
// together chunk by chunk.
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
  std::function<void()> bytes_came;  // each time that some have, or what came before has been looked through further
  std::stop_token stop = {};
};

// Returns the size of the state, which is whole and on the disk then.
[[nodiscard]] Result<std::int64_t> receive_state(PeerLink& link, const Receiving& receiving);

}  // namespace tidepool::agent
