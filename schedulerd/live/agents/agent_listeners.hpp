// The listeners for agents: the Unix socket of the state directory and, if configured, a TCP port.
//
// The Unix socket is private from the moment it exists. A socket left by a killed daemon is replaced, so this process
// must hold the lock of the state directory.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/accept_loop.hpp"
#include "base/result.hpp"
#include "schedulerd/live/agents/agent_session.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "tls/context.hpp"
#include "tls/stream.hpp"

namespace tidepool::live {

class AgentListeners {
 public:
  struct Places {
    std::string socket_path;
    std::optional<Endpoint> tcp;
    tls::Context tls;  // of the TCP port; null = plain
  };
  // `from`: whose links are counted together (api::Peer); empty = of the Unix socket.
  using OnLink = std::function<void(tls::Stream<AgentSession::Socket> link, std::string from)>;

  AgentListeners(boost::asio::io_context& io, Places places, OnLink on_link);

  // Errors say what to do, for the one who has started the daemon.
  [[nodiscard]] Status bind();
  void start();
  void stop();
  // The one in use; 0 without one, and before bind().
  [[nodiscard]] std::uint16_t tcp_port() const { return tcp_port_; }

 private:
  using Local = boost::asio::local::stream_protocol;
  using Tcp = boost::asio::ip::tcp;

  template <class Acceptor>
  typename api::AcceptLoop<Acceptor>::Handlers accept_handlers();
  [[nodiscard]] Status bind_local();
  [[nodiscard]] Status bind_tcp(const Endpoint& wanted);

  Places places_;
  OnLink on_link_;
  Local::acceptor local_;
  Tcp::acceptor tcp_;
  api::AcceptLoop<Local::acceptor> local_links_;
  api::AcceptLoop<Tcp::acceptor> tcp_links_;
  std::uint16_t tcp_port_ = 0;
};

}  // namespace tidepool::live
