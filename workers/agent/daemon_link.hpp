// The only connection of a node to the daemon. It connects on request and reports the outcome; AgentState decides when
// to try again and what to send.
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
    std::function<void(std::string why)> on_closed;  // once per open(), also if it could not connect
  };
  DaemonLink(boost::asio::io_context& io, DaemonAddress address, Handlers handlers);

  void open();
  // The TLS context of the next link over TCP.
  void secure(tls::Context context);
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  // The address from which this node reaches the daemon, as the newest link shows; loopback over a Unix socket, empty
  // before the first link.
  [[nodiscard]] const std::string& own_host() const { return own_host_; }
  void send(const api::AgentToDaemon& message);
  void close(const std::string& why);
  // Sends what is queued, then closes.
  void finish();

 private:
  void connect_unix(const UnixAddress& address);
  void resolve_tcp(const TcpAddress& address);
  void connect_tcp(const TcpAddress& address, const boost::asio::ip::tcp::resolver::results_type& endpoints);
  // The daemon must prove that it is the requested host.
  void agree_on_tls(std::shared_ptr<LineStream::Stream> stream, const TcpAddress& address);
  void connected(LineStream::Stream stream);
  void heed(const api::AgentWelcome& welcome);
  void failed(const std::string& why);

  boost::asio::io_context& io_;
  DaemonAddress address_;
  Handlers handlers_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer patience_;  // limits an attempt to connect
  std::shared_ptr<LineStream> stream_;
  std::string own_host_;
};

}  // namespace tidepool::agent
