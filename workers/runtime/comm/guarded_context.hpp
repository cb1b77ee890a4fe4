// A context of Gloo's TCP transport whose listening sockets take in members of the generation only.
//
// Gloo hands a listening socket to the first connection that comes, and an unknown message on it ends the process. Here
// a connection must first show the key that the daemon passed to the peer with the address, and before that Gloo does
// not see it: another one is closed and told in the log, and the socket goes on listening.
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

  // Takes a sentence for the log, on a thread of Gloo's.
  using Warn = std::function<void(const std::string&)>;

  GuardedContext(std::shared_ptr<gloo::transport::tcp::Device> device, int rank_here, int size_here, Warn warn);

  // Listens for the peer, under a key of its own. Throws as Gloo does.
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override;

  // What the peer is to be told. Requires: createPair(peer) was called.
  [[nodiscard]] Entry entry_for(int peer) const;
  // The key that we show to the peer. Before its pair connects.
  void set_key_of(int peer, std::string key);

 private:
  const Warn warn_;
};

}  // namespace tidepool::runtime
