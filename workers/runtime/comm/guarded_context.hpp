// A context of Gloo's TCP transport whose listening sockets accept members of the generation only.
//
// Gloo assigns a listening socket to the first connection that arrives, and an unknown message on it ends the process.
// Here a connection must first present the key that the daemon passed to the peer with the address; Gloo does not see
// it before that. Any other connection is closed and logged, and the socket keeps listening.
#pragma once

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/comm_address.hpp"

namespace tidepool::runtime {

class GuardedContext final : public gloo::transport::tcp::Context {
 public:
  using Entry = api::CommAddress::Entry;

  // Receives a sentence for the log, on one of Gloo's threads.
  using Warn = std::function<void(const std::string&)>;

  GuardedContext(std::shared_ptr<gloo::transport::tcp::Device> device, int rank_here, int size_here, Warn warn);

  // Listens for the peer, with a key for this peer only. Throws as Gloo does.
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override;

  // The address entry to send to the peer. Requires: createPair(peer) was called.
  [[nodiscard]] Entry entry_for(int peer) const;
  // The key that this rank presents to the peer. Call before its pair connects.
  void set_key_of(int peer, std::string key);

 private:
  const Warn warn_;
};

}  // namespace tidepool::runtime
