#include "schedulerd/live/http/server/listener.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <exception>
#include <string_view>
#include <utility>

namespace tidepool::live::http {
namespace {

constexpr const char* kUsualTlsPort = ":443";

constexpr const char* kTurnedAwayFor = "5";  // seconds
constexpr int kPartingsMax = 64;
constexpr auto kPartingPatience = std::chrono::seconds(1);
constexpr auto kTellAgain = std::chrono::minutes(1);

std::string in_lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Refusal too_many_connections() {
  return {.status = 503,
          .code = "TooManyConnections",
          .message = "as many connections are open as the daemon takes, by all or by this address",
          .hint =
              "try again in a few seconds; event streams and followed logs hold one each, so end those that nobody "
              "reads"};
}

// The whole answer as bytes: a connection that is turned away never gets as far as the HTTP library.
std::string bytes_of(const HttpResponse& response, const std::string& request_id) {
  std::string bytes = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nX-Request-Id: " + request_id + "\r\n";
  for (const auto& [name, value] : response.headers) {
    bytes += name + ": " + (name == "Retry-After" ? kTurnedAwayFor : value) + "\r\n";
  }
  return bytes + "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
}

// The border for exceptions: one that left the I/O thread would end the daemon.
void carry_out(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    spdlog::error("event=work_failed why={:?}", error.what());
  }
}

}  // namespace

Result<std::string> Listener::bind() {
  error_code error;
  if (options.address == "localhost") options.address = "127.0.0.1";
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return invalid_argument("\"" + options.address + "\" is no IP address to listen on; use 127.0.0.1 or ::1");
  if (!address.is_loopback() && options.tls == nullptr) {
    return invalid_argument("listening on " + options.address +
                            " is refused: without TLS tokens would cross the network in clear; start schedulerd with " +
                            "--tls, or use 127.0.0.1 or ::1");
  }
  const tcp::endpoint endpoint(address, static_cast<unsigned short>(options.port));
  const auto step = [&](auto&& call) {
    if (!error) call();
  };
  step([&] { acceptor.open(endpoint.protocol(), error); });
  step([&] { acceptor.set_option(asio::socket_base::reuse_address(true), error); });
  step([&] { acceptor.bind(endpoint, error); });
  step([&] { acceptor.listen(asio::socket_base::max_listen_connections, error); });
  const std::string place = options.address + ":" + std::to_string(options.port);
  if (error == asio::error::address_in_use) {
    return Error{ErrorCode::kConflict,
                 "another program listens on " + place + "; stop it, or take a free port with --listen 127.0.0.1:0"};
  }
  if (error == boost::system::errc::address_not_available) {
    return invalid_argument("cannot listen on " + place + ": this machine has no such address; see: ip address");
  }
  if (error) return io_error("cannot listen on " + place + ": " + error.message());
  const std::string port = ":" + std::to_string(acceptor.local_endpoint().port());
  for (const std::string& name : options.allowed_hosts) hosts.push_back(in_lower_case(name));
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) hosts.push_back(name + port);
  for (const std::string& name : options.names) add_host(name, port);
  const bool everywhere = address.is_unspecified() && !options.names.empty();
  const std::string host = everywhere ? options.names.front() : options.address;  // no certificate is for 0.0.0.0
  return (options.tls == nullptr ? "http://" : "https://") +
         (host.find(':') != std::string::npos ? "[" + host + "]" : host) + port;
}

// As clients write it: addresses of IPv6 in brackets, names in lower case, and no port where it is the usual one.
void Listener::add_host(std::string name, const std::string& port) {
  name = in_lower_case(std::move(name));
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  hosts.push_back(name + port);
  if (port == kUsualTlsPort) hosts.push_back(name);
}

void Listener::note_failure(const error_code& failed) {
  spdlog::warn("event=http_accept_failed why={:?}", failed.message());
}

// A few get an answer, without TLS, and the others none: it would cost what the cap saves.
void Listener::turn_away(tcp::socket socket, const std::string& address) {
  ++turned_away;
  if (options.on_turned_away) options.on_turned_away();
  const auto now = std::chrono::steady_clock::now();
  if (!told_of_turned_away || now - *told_of_turned_away >= kTellAgain) {
    told_of_turned_away = now;
    spdlog::warn("event=http_connections_turned_away peer={} all={} open={} why={:?}", address, turned_away,
                 connections.size(), "too many connections are open, by all or by this address");
  }
  if (options.tls != nullptr || partings >= kPartingsMax) return;
  // One write into the empty buffer of a new socket; the client closes when it has read it, or the timer does.
  const std::string request_id = "req-" + std::to_string(next_request++);
  const std::string answer = bytes_of(refuser(too_many_connections(), request_id), request_id);
  error_code error;
  socket.non_blocking(true, error);
  if (!error) socket.write_some(asio::buffer(answer), error);
  if (!error) socket.shutdown(tcp::socket::shutdown_send, error);
  if (error) return;
  ++partings;
  const auto left = std::make_shared<tcp::socket>(std::move(socket));
  const auto timer = std::make_shared<asio::steady_timer>(io, kPartingPatience);
  timer->async_wait([this, left, timer](error_code) {
    --partings;
    error_code ignored;
    left->close(ignored);
  });
}

void Listener::admit(tcp::socket socket) {
  error_code error;
  const auto remote = socket.remote_endpoint(error);
  const auto own = error ? tcp::endpoint() : socket.local_endpoint(error);
  if (error) return;
  const std::string address = remote.address().to_string();
  const api::Peer peer = api::peer_of(remote.address(), own.address());
  if (!cap.take(peer)) return turn_away(std::move(socket), address);
  socket.set_option(tcp::no_delay(true), error);
  auto connection = make_connection(*this, std::move(socket), address);
  connections.emplace(connection.get(), Held{connection, peer});
  connection->run();
}

void Listener::forget(Connection* connection) {
  const auto held = connections.find(connection);
  cap.give_back(held->second.peer);
  connections.erase(held);
  if (stopping && connections.empty()) io.stop();
}

void Listener::begin_stop() {
  stopping = true;
  links.stop();
  if (connections.empty()) return io.stop();
  stop_patience.expires_after(to_chrono(options.stop_patience));
  stop_patience.async_wait([this](error_code) { io.stop(); });
  const auto alive = connections;
  for (const auto& [ignored_key, held] : alive) held.connection->wind_down();
}

HttpServer::HttpServer(HttpOptions options, Handler handler, Refuser refuser)
    : listener_(std::make_shared<Listener>(std::move(options), std::move(handler), std::move(refuser))) {}

HttpServer::~HttpServer() {
  stop();
}

Result<std::string> HttpServer::start() {
  auto url = listener_->bind();
  if (!url) return url;
  listener_->links.start();
  listener_->thread = std::thread([listener = listener_.get()] { listener->io.run(); });
  return url;
}

void HttpServer::stop() {
  if (!listener_->thread.joinable()) return;
  asio::post(listener_->io, [listener = listener_.get()] { listener->begin_stop(); });
  listener_->thread.join();
  const auto left = listener_->connections;
  for (const auto& [ignored_key, held] : left) held.connection->close();
  // Cancelled operations still hold their connections: their callbacks run while the listener is there.
  listener_->io.restart();
  listener_->io.poll();
}

void HttpServer::post(std::function<void()> work) {
  asio::post(listener_->io, [work = std::move(work)] { carry_out(work); });
}

void HttpServer::after(Duration delay, std::function<void()> work) {
  auto timer = std::make_shared<asio::steady_timer>(listener_->io);
  timer->expires_after(to_chrono(delay));
  timer->async_wait([timer, work = std::move(work)](error_code error) {
    if (!error) carry_out(work);
  });
}

}  // namespace tidepool::live::http
