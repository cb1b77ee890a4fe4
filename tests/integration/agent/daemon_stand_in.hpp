// The other ends of an agent: a daemon's and a worker's side of the worker protocol on plain sockets,
// and the agentd process itself. Every wait is for a condition and has an end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/worker_protocol.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::test {

// One end of a line connection. receive() throws when nothing comes within ten seconds.
class LineEnd {
 public:
  LineEnd() = default;
  explicit LineEnd(agent::UniqueFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] static LineEnd connect_to(const std::filesystem::path& path);

  void send(const std::string& line) const;
  // The next line; nothing when the peer has closed.
  [[nodiscard]] std::optional<std::string> receive();
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(socket_); }
  void close() { socket_.reset(); }

 private:
  agent::UniqueFd socket_;
  api::LineBuffer lines_;
};

// Listens like a daemon and says what the test tells it to.
class DaemonStandIn {
 public:
  explicit DaemonStandIn(std::filesystem::path socket);
  ~DaemonStandIn();
  DaemonStandIn(const DaemonStandIn&) = delete;
  DaemonStandIn& operator=(const DaemonStandIn&) = delete;

  // From the next welcome on it is a daemon of another state directory.
  void become(const std::string& cluster) { cluster_ = cluster; }
  // Where the agent of this cluster whose state folder is `s`, beside the socket, keeps states in memory.
  [[nodiscard]] std::filesystem::path memory_folder() const;

  // Waits for an agent, takes its hello and welcomes it.
  api::AgentHello welcome(std::int64_t heartbeat_ms = 60'000);
  void send(const api::DaemonToAgent& message) const { link_.send(api::encode(message)); }
  // The next message of this kind; others before it are dropped.
  template <class Message>
  Message next() {
    for (;;) {
      api::AgentToDaemon message = receive();
      if (auto* wanted = std::get_if<Message>(&message)) return std::move(*wanted);
    }
  }
  void hang_up() { link_.close(); }
  // Neither listens nor is connected, like a daemon that has been killed.
  void die();
  void rise();

  void start(WorkerId worker, const std::string& shell_script);
  api::WorkerExitedReport exit_of(WorkerId worker);
  void acknowledge(const api::WorkerExitedReport& report) const { send(api::ReportAck{.report = report.report}); }
  api::LogChunk read_log(WorkerId worker, std::int64_t offset, std::int64_t limit = 65'536);
  // Reads the log until it contains `text`.
  std::string log_with(WorkerId worker, const std::string& text);

 private:
  [[nodiscard]] api::AgentToDaemon receive();

  std::filesystem::path path_;
  std::string cluster_;
  agent::UniqueFd listener_;
  LineEnd link_;
  std::uint64_t requests_ = 0;
};

// agentd on a folder of its own; killed with its workers when the test ends.
class AgentProcess {
 public:
  AgentProcess(std::filesystem::path folder, std::vector<std::string> arguments);
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess();

  void signal(int signal) const;
  // While its disk is full it writes no byte to any file.
  void fill_disk(bool is_full) const;
  // Waits for its end; the exit code, or minus the signal.
  int wait();
  [[nodiscard]] std::string output() const;

 private:
  std::filesystem::path output_;
  std::filesystem::path state_dir_;
  pid_t pid_ = 0;
};

// Waits until `done`; throws after ten seconds and names what it waited for.
void eventually(const std::string& what, const std::function<bool()>& done);

[[nodiscard]] bool process_lives(pid_t pid);

}  // namespace tidepool::test
