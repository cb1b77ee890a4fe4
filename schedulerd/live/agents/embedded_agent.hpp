// The agent that a daemon with --local-slots or --dev starts: a real agentd process in its own session. On a lasting
// state it and its workers outlive the daemon, and the agent reconnects after a restart of the daemon. On a temporary
// state it ends with the daemon, however the daemon ends: it holds one end of a pipe, and the kernel closes the other.
//
// Rule: an agent holds the lock of its state directory (workers/agent/state_lock.hpp) until its process has ended, so
// another one is started exactly when no process holds it.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "base/ip_network.hpp"
#include "base/money.hpp"
#include "base/result.hpp"

namespace tidepool::live {

struct EmbeddedAgentOptions {
  std::string program;  // path of agentd
  std::string socket_path;
  std::string token_file;
  std::string state_dir;
  std::string log_file;
  int slots = 0;
  Money price_per_slot_hour;
  std::string data_address;           // for --data-address; empty = none, so its workers meet on loopback
  std::string isolation = "none";     // for --isolation
  std::string syscall_filter = "on";  // for --syscall-filter
  std::string metadata = "auto";      // for --metadata
  std::vector<IpNetwork> denied;      // for --deny-address
  bool ends_with_daemon = false;
};

// The name under which it joins.
inline constexpr const char* kLocalNode = "local";

class EmbeddedAgent {
 public:
  explicit EmbeddedAgent(EmbeddedAgentOptions options) : options_(std::move(options)) {}
  EmbeddedAgent(const EmbeddedAgent&) = delete;
  EmbeddedAgent& operator=(const EmbeddedAgent&) = delete;
  ~EmbeddedAgent();

  [[nodiscard]] Status start();
  // Call about once a second. Starts an agent if the last one has ended, also one started by an earlier daemon, so that
  // it adopts the workers before their node counts as lost.
  void tend();

  // For an agent that ends with the daemon: closes its pipe, so that it stops its workers and exits.
  void release();
  // Kills the workers, which the agent is stopping with notice.
  void hurry() const;
  // Whether it runs as a child of this process; reaps it.
  [[nodiscard]] bool lives();

 private:
  [[nodiscard]] Status spawn();
  // An agent has the state directory, perhaps one started by an earlier daemon.
  [[nodiscard]] bool is_running() const;

  EmbeddedAgentOptions options_;
  pid_t child_ = 0;                         // 0 = none of ours
  std::array<int, 2> lifeline_ = {-1, -1};  // the agent's end and ours; -1 = closed
};

// Beside this program's own binary.
[[nodiscard]] std::string sibling_program(const std::string& name);

}  // namespace tidepool::live
