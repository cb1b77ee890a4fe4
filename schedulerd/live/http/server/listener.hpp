// The listening socket with its connections, and what a connection is to it. Private to the transport: http_server.hpp
// is its interface. Everything here runs on the I/O thread unless a comment says otherwise.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/accept_loop.hpp"
#include "api/connection_cap.hpp"
#include "schedulerd/live/http/server/http_server.hpp"

namespace tidepool::live::http {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

[[nodiscard]] inline std::chrono::microseconds to_chrono(Duration duration) {
  return std::chrono::microseconds(duration.count_us());
}

// One client's connection, from its first request to its end.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void run() = 0;
  // Closes what is idle or streams; an answer under way goes out first.
  virtual void wind_down() = 0;
  virtual void close() = 0;
};

// Owns each connection until it closes.
struct Listener : std::enable_shared_from_this<Listener> {
  HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::Refuser refuser;
  std::vector<std::string> hosts;  // lower-case "name:port" that Host may say

  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  api::AcceptLoop<tcp::acceptor> links{acceptor,
                                       {.on_link = [this](tcp::socket socket) { admit(std::move(socket)); },
                                        .on_failure = [](const error_code& failed) { note_failure(failed); }}};
  asio::steady_timer stop_patience{io};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::thread thread;
  bool stopping = false;
  struct Held {
    std::shared_ptr<Connection> connection;
    api::Peer peer;
  };
  std::map<Connection*, Held> connections;
  api::ConnectionCap cap;
  std::uint64_t next_request = 1;
  std::uint64_t turned_away = 0;
  std::optional<std::chrono::steady_clock::time_point> told_of_turned_away;
  int partings = 0;  // sockets of these that wait until their answer has been read

  Listener(HttpOptions o, HttpServer::Handler h, HttpServer::Refuser r)
      : options(std::move(o)), handler(std::move(h)), refuser(std::move(r)), cap(options.connections) {}

  Result<std::string> bind();
  void add_host(std::string name, const std::string& port);
  static void note_failure(const error_code& failed);
  void admit(tcp::socket socket);
  void turn_away(tcp::socket socket, const std::string& address);
  void begin_stop();
  void forget(Connection* connection);
};

// In beast_connection.cpp. `server` outlives the connection's callbacks.
[[nodiscard]] std::shared_ptr<Connection> make_connection(Listener& server, tcp::socket socket, std::string address);

}  // namespace tidepool::live::http
