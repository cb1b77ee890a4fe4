// The side of a transfer that has the state: checks the ticket against the key that was shown, then sends the file from
// the offset that it is asked for.
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
  std::function<void()> admitted;  // the ticket was good
  std::function<Result<OpenState>(const Grant& grant)> open;
  // Returns when so many bytes may go; false: the agent ends.
  std::function<bool(std::int64_t bytes, const std::stop_token& stop)> pace;
};

// Returns what was sent, as a sentence for the log; the error says why nothing was, or not all.
[[nodiscard]] Result<std::string> send_state(PeerLink& link, const Sending& sending, const std::stop_token& stop);

}  // namespace tidepool::agent
