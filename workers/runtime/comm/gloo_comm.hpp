// A Comm over Gloo's TCP transport: a full mesh of connections, one context per generation. open() starts listening;
// the caller exchanges the addresses; connect() then joins the mesh.
//
// A worker in a generation of n uses n - 1 ports of its host and n - 1 descriptors, and twice that while the next
// generation is being built. With eight workers on a host that bounds n: 1,024 use 16,368 of the 28,232 ports that
// Linux assigns by default, 2,048 would need more than there are.
//
// Gloo's own headers are included only in the .cpp: nothing else in the project depends on them.
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
  Millis connect_timeout{30'000};      // for each peer, after its address is known
  Millis collective_timeout{600'000};  // for a peer that hangs without dying; the daemon reports deaths
  std::function<void(const std::string&)> warn = [](const std::string&) {};  // about rejected connections; any thread
};

class GlooComm : public Comm {
 public:
  // Listens on one free port per peer; each port accepts one connection that presents that peer's key (address()). kIo:
  // this host lacks the ports or descriptors.
  [[nodiscard]] static Result<std::shared_ptr<GlooComm>> open(const GlooOptions& options);

  // What the peers need to connect.
  [[nodiscard]] virtual api::CommAddress::Gloo address() const = 0;

  // Connects to all ranks; `addresses` are in rank order. abort() from another thread ends the wait.
  [[nodiscard]] virtual Status connect(const std::vector<api::CommAddress::Gloo>& addresses) = 0;
};

}  // namespace tidepool::runtime
