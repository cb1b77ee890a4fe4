// A Comm over Gloo's TCP transport: a full mesh of connections, one context per generation. Listening
// starts with open(); addresses are exchanged by the caller; connect() then joins the mesh.
//
// A worker of a generation of n takes n - 1 ports of its host and as many descriptors, and twice as many while the next
// one is built beside it. With eight workers on a host that bounds n: 1,024 take 16,368 of the 28,232 ports that Linux
// gives out by itself, 2,048 would take more than there are.
//
// Gloo's own headers stay in the .cpp: nothing else of the project depends on them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/comm_address.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/comm.hpp"

namespace tidepool::runtime {

struct GlooOptions {
  int rank = 0;
  int size = 2;                        // >= 2
  std::string host = "127.0.0.1";      // IP address to listen on
  Millis connect_timeout{30'000};      // for each peer, once its address is known
  Millis collective_timeout{600'000};  // a peer that hangs without dying; deaths are pushed by the daemon
  std::function<void(const std::string&)> warn = [](const std::string&) {};  // of connections sent away; any thread
};

class GlooComm : public Comm {
 public:
  // Listens on one free port per peer, each of which accepts a connection that shows the key of that peer (address()).
  // kIo: this host has not got what that takes.
  [[nodiscard]] static Result<std::shared_ptr<GlooComm>> open(const GlooOptions& options);

  // What the peers must know to connect.
  [[nodiscard]] virtual api::CommAddress::Gloo address() const = 0;

  // Connects to all ranks; `addresses` in rank order. abort() from another thread ends the wait.
  [[nodiscard]] virtual Status connect(const std::vector<api::CommAddress::Gloo>& addresses) = 0;
};

}  // namespace tidepool::runtime
