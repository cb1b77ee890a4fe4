// The sending side of a transfer: checks the ticket against the presented key, then sends the file from the requested
// offset.
//
//   fetching agent:  {"ticket": "..."}          sending agent:  {"name": "...", "bytes": 123} or {"refused": "why"}
//   fetching agent:  {"offset": 0}              sending agent:  frames (frames.hpp)
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "workers/agent/transfer/peer_link.hpp"
#include "workers/agent/transfer/saved_files.hpp"
#include "workers/agent/transfer/tickets.hpp"

namespace tidepool::agent {

struct Sending {
  std::function<Result<Grant>(const std::string& ticket, const std::string& key)> redeem;
  std::function<void()> admitted;  // called when the ticket was valid
  std::function<Result<OpenState>(const Grant& grant)> open;
  // Returns when `bytes` may be sent; false: the agent ends.
  std::function<bool(std::int64_t bytes, const std::stop_token& stop)> pace;
};

// Returns a sentence for the log about what was sent; the error says why nothing was sent, or not everything.
[[nodiscard]] Result<std::string> send_state(PeerLink& link, const Sending& sending, const std::stop_token& stop);

}  // namespace tidepool::agent
