#include "workers/agent/daemon_link.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "api/comm_address.hpp"
#include "base/overloaded.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using LocalSocket = asio::local::stream_protocol::socket;
using TcpSocket = asio::ip::tcp::socket;

constexpr std::size_t kUnsentMax = 64U << 20U;
constexpr auto kConnectPatience = std::chrono::seconds(10);
constexpr std::int64_t kSilenceMs = 15'000;  // until the daemon has sent how long it waits for this node
constexpr std::int64_t kSilenceLeastMs = 1'000;
constexpr const char* kHttpPort =
    "it answers in HTTP, so this is the daemon's HTTP port; give the port for agents (agents.listen in the daemon's "
    "settings)";

// If data is not acknowledged for that long, the link ends.
void bound_silence(int socket, std::int64_t ms) {
  const int value = static_cast<int>(ms);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, sizeof value);
}

// A daemon whose machine has failed sends no close: the kernel detects that within seconds.
void watch_for_silence(TcpSocket& socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int values[][2] = {{TCP_KEEPIDLE, 5}, {TCP_KEEPINTVL, 3}, {TCP_KEEPCNT, 3}};
  for (const auto& [option, value] : values) {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
  }
  bound_silence(socket.native_handle(), kSilenceMs);
}

}  // namespace

Result<TcpAddress> parse_tcp_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !number || std::stoi(port) < 1 || std::stoi(port) > 65'535) {
    return invalid_argument("\"" + text + "\" is no address; write HOST:PORT, such as 127.0.0.1:7481");
  }
  return TcpAddress{.host = host, .port = port};
}

DaemonLink::DaemonLink(asio::io_context& io, DaemonAddress address, Handlers handlers)
    : io_(io), address_(std::move(address)), handlers_(std::move(handlers)), resolver_(io), patience_(io) {}

void DaemonLink::open() {
  std::visit(Overloaded{[this](const UnixAddress& address) { connect_unix(address); },
                        [this](const TcpAddress& address) { resolve_tcp(address); }},
             address_);
}

void DaemonLink::secure(tls::Context context) {
  if (auto* tcp = std::get_if<TcpAddress>(&address_)) tcp->tls = std::move(context);
}

// A Unix socket answers at once: either a listener accepts the connection, or there is none.
void DaemonLink::connect_unix(const UnixAddress& address) {
  LocalSocket socket(io_);
  error_code error;
  try {
    socket.connect(asio::local::stream_protocol::endpoint(address.path), error);
  } catch (const boost::system::system_error& too_long) {
    error = too_long.code();
  }
  if (error) {
    failed("cannot reach the daemon at " + address.path + ": " + error.message());
  } else {
    own_host_ = api::kLoopbackHost;
    connected(LineStream::Stream(LineStream::Socket(std::move(socket))));
  }
}

void DaemonLink::resolve_tcp(const TcpAddress& address) {
  resolver_.async_resolve(address.host, address.port, [this, address](error_code error, const auto& endpoints) {
    if (error) {
      failed("cannot find the daemon's host: " + error.message());
    } else {
      connect_tcp(address, endpoints);
    }
  });
}

void DaemonLink::connect_tcp(const TcpAddress& address, const asio::ip::tcp::resolver::results_type& endpoints) {
  auto socket = std::make_shared<TcpSocket>(io_);
  patience_.expires_after(kConnectPatience);
  patience_.async_wait([socket](error_code error) {
    error_code ignored;
    if (!error) socket->close(ignored);  // ends the connection attempt below
  });
  asio::async_connect(*socket, endpoints, [this, socket, address](error_code error, const asio::ip::tcp::endpoint&) {
    patience_.cancel();
    if (error || !socket->is_open()) {
      failed("cannot reach the daemon: " + (error ? error.message() : "no answer"));
      return;
    }
    watch_for_silence(*socket);
    error_code unknown;
    const auto here = socket->local_endpoint(unknown);
    if (!unknown) own_host_ = here.address().to_string();
    auto stream = std::make_shared<LineStream::Stream>(LineStream::Socket(std::move(*socket)), address.tls);
    if (stream->secured()) return agree_on_tls(std::move(stream), address);
    connected(std::move(*stream));
  });
}

void DaemonLink::agree_on_tls(std::shared_ptr<LineStream::Stream> stream, const TcpAddress& address) {
  patience_.expires_after(kConnectPatience);
  patience_.async_wait([stream](error_code error) {
    error_code ignored;
    if (!error) stream->next_layer().close(ignored);  // ends the handshake below
  });
  LineStream::Stream& agreed = *stream;
  const std::string place = address.host + ":" + address.port;
  agreed.async_connect(address.host, [this, stream = std::move(stream), place](error_code error) {
    patience_.cancel();
    if (error || !stream->next_layer().is_open()) {
      return failed("no TLS with the daemon at " + place + ": " + (error ? stream->explain(error) : "no answer"));
    }
    connected(std::move(*stream));
  });
}

// A dead link must be detected early enough to reconnect before the daemon declares the node lost.
void DaemonLink::heed(const api::AgentWelcome& welcome) {
  if (!std::holds_alternative<TcpAddress>(address_)) return;
  bound_silence(stream_->socket().native_handle(), std::clamp(welcome.patience_ms / 2, kSilenceLeastMs, kSilenceMs));
}

void DaemonLink::connected(LineStream::Stream stream) {
  stream_ = std::make_shared<LineStream>(std::move(stream), kUnsentMax);
  stream_->start({.on_line =
                      [this](const std::string& line) {
                        if (line.starts_with("HTTP/")) return close(kHttpPort);
                        auto message = api::decode_daemon_to_agent(line);
                        if (message) {
                          if (const auto* welcome = std::get_if<api::AgentWelcome>(&*message)) heed(*welcome);
                          handlers_.on_message(std::move(*message));
                        } else {
                          close("the daemon's line was not understood: " + message.error().message);
                        }
                      },
                  .on_closed =
                      [this](const std::string& why) {
                        stream_.reset();
                        handlers_.on_closed(why);
                      }});
  handlers_.on_opened();
}

void DaemonLink::failed(const std::string& why) {
  asio::post(io_, [this, why] { handlers_.on_closed(why); });
}

void DaemonLink::send(const api::AgentToDaemon& message) {
  if (stream_) stream_->send(api::encode(message));
}

void DaemonLink::close(const std::string& why) {
  if (stream_) stream_->close(why);
}

void DaemonLink::finish() {
  if (stream_) stream_->finish("this agent ends");
}

}  // namespace tidepool::agent
