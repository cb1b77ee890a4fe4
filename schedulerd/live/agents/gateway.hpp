// Accepts agents: on the Unix socket of the state directory and, if configured, on a TCP port. Runs on its own thread.
// It handles sessions, not jobs: agents' messages go into the inbox, and the loop's messages to the node's session.
//
// One live session per node name: a newer session of the same agent (api::AgentHello::instance), with the same key, or
// without one like the older, ends the older; others are refused. A node is lost once nothing was received from it for
// `patience`, whether its link is open or not, counted in heartbeats of this process, so that a paused daemon loses no
// node.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/agents/node_authority.hpp"
#include "schedulerd/live/agents/request_rate.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "tls/context.hpp"

namespace tidepool::live {

struct GatewayOptions {
  std::string socket_path;
  std::optional<Endpoint> tcp;
  tls::Context tls;     // of the TCP port; null = plain, on loopback only. It asks agents for certificates
  std::string token;    // that agents must present
  std::string cluster;  // this daemon's identity, told to agents
  Duration heartbeat = Duration::seconds(1);
  Duration patience = Duration::seconds(5);
  Duration first_patience = Duration::seconds(15);  // for nodes that were up before a restart
  std::vector<std::string> expected;                // names of those nodes
  NodeAuthority nodes{{}, {}};                      // without a certificate no node joins with one
  // Fingerprints by which joined nodes must identify this daemon; empty: they keep theirs.
  std::vector<std::string> authorities;
  // The most links without a hello; beyond it the oldest link of the address with most of them is closed.
  std::size_t unnamed_max = 256;
  // Rate of certificate requests per address, which many agents may share.
  RateLimit certificate_rate{.every = Duration::millis(100), .at_once = Duration::seconds(12)};
};

class Gateway final : public Outbox {
 public:
  Gateway(GatewayOptions options, Inbox& inbox);
  ~Gateway() override;
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // Binds and starts the thread. Requires: the state directory is locked by this process.
  [[nodiscard]] Status start();
  // Closes all sessions and joins the thread. Idempotent.
  void stop();

  void post(std::vector<OutboxItem> items) override;

  // Sets the authorities by which joined nodes identify the daemon: sent at once and after each welcome. Agents that
  // cannot follow are named in the log. Thread-safe.
  void send_authorities(std::vector<std::string> fingerprints);

  // Thread-safe; `done` is called on the gateway's thread, or at once if the gateway has stopped.
  void read_log(NodeId node, const api::LogRead& what, std::function<void(Result<LogPage>)> done);
  // The TCP port in use; 0 without one.
  [[nodiscard]] std::uint16_t tcp_port() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidepool::live
