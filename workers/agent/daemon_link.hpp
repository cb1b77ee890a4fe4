// The one connection of a node to the daemon. It connects when told and reports how that went; when to
// try again, and what to send, is decided by AgentState.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "tls/context.hpp"
#include "workers/agent/line_stream.hpp"

namespace tidepool::agent {

struct UnixAddress {
  std::string path;
};
struct TcpAddress {
  std::string host;
  std::string port;
  tls::Context tls = nullptr;  // null = plain
};
using DaemonAddress = std::variant<UnixAddress, TcpAddress>;

// "HOST:PORT", "[::1]:7481".
[[nodiscard]] Result<TcpAddress> parse_tcp_address(const std::string& text);

class DaemonLink {
 public:
  struct Handlers {
    std::function<void()> on_opened;
    std::function<void(api::DaemonToAgent)> on_message;
    std::function<void(std::string why)> on_closed;  // once per open(), also when it could not connect
  };
  DaemonLink(boost::asio::io_context& io, DaemonAddress address, Handlers handlers);

  void open();
  // What the next link over TCP is secured with.
  void secure(tls::Context context);
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  // From which address this node reaches the daemon, as the newest link shows; loopback over a Unix socket, empty
  // before the first link.
  [[nodiscard]] const std::string& own_host() const { return own_host_; }
  void send(const api::AgentToDaemon& message);
  void close(const std::string& why);
  // Sends what waits, then closes.
  void finish();

 private:
  void connect_unix(const UnixAddress& address);
  void resolve_tcp(const TcpAddress& address);
  void connect_tcp(const TcpAddress& address, const boost::asio::ip::tcp::resolver::results_type& endpoints);
  // The daemon must prove to be the host that was asked for.
  void agree_on_tls(std::shared_ptr<LineStream::Stream> stream, const TcpAddress& address);
  void connected(LineStream::Stream stream);
  void heed(const api::AgentWelcome& welcome);
  void failed(const std::string& why);

  boost::asio::io_context& io_;
  DaemonAddress address_;
  Handlers handlers_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer patience_;  // of an attempt to connect
  std::shared_ptr<LineStream> stream_;
  std::string own_host_;
};

}  // namespace tidepool::agent
