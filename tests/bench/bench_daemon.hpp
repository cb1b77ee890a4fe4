// What the benchmarks of the daemon's HTTP share: a client on loopback, and a schedulerd on a state directory of its
// own.
#pragma once

#include <sys/types.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::bench {

namespace net = boost::asio;
namespace http = boost::beast::http;

// One keep-alive connection to a server on loopback.
class Client {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  Client(unsigned short port, std::string token, Headers headers = {});
  http::response<http::string_body> call(http::verb method, const std::string& target, const std::string& body = {});

 private:
  net::io_context context_;
  net::ip::tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::string token_;
  Headers headers_;
  std::string host_;
};

// schedulerd with these arguments; ended when this goes out of scope, and with --dev its workers, too. Throws with its
// log if it does not start.
class Daemon {
 public:
  explicit Daemon(std::string program, std::vector<std::string> arguments = {});
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  // SIGKILL, then a start on the same state directory.
  void kill_and_restart();

  [[nodiscard]] unsigned short port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::filesystem::path state_dir() const { return folder_ / "state"; }

 private:
  void start();
  void read_ready_line(int fd);
  [[nodiscard]] std::string log_text() const;

  tidepool::test::TemporaryFolder folder_;
  std::string program_;
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  unsigned short port_ = 0;
  std::string token_;
};

}  // namespace tidepool::bench
