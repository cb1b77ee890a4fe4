// What the benchmarks of the daemon's HTTP share: a client on loopback, and a schedulerd on a state directory of its
// own.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::bench {

struct Answer {
  unsigned status = 0;
  std::string body;
};

// One keep-alive connection to a server on loopback. Throws where the connection breaks.
class Client {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  Client(unsigned short port, std::string token, Headers headers = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `method` as HTTP spells it, such as "GET".
  Answer call(const std::string& method, const std::string& target, const std::string& body = {});

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
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
