// The agent that a daemon with --local-slots or --dev starts: a real agentd process in its own session. On a lasting
// state it and its workers outlive the daemon: after a restart the old agent reconnects, and a second one finds the
// lock taken and exits. On a temporary state it ends with the daemon, however the daemon ends: it holds one end of a
// pipe, and the kernel closes the other.
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
  // Call about once a second. Reaps it, and starts it again if no agent is connected, at once if its process has ended,
  // also one started by an earlier daemon, so that it adopts its workers before its node counts as lost.
  void tend(bool connected);

  // For an agent that ends with the daemon: closes its pipe, so that it stops its workers and exits.
  void release();
  // Kills the workers, which the agent is stopping with notice.
  void hurry() const;
  // Whether it runs as a child of this process; reaps it.
  [[nodiscard]] bool lives();

 private:
  [[nodiscard]] Status spawn();
  [[nodiscard]] bool another_runs() const;

  EmbeddedAgentOptions options_;
  pid_t child_ = 0;                         // 0 = none of ours
  int absent_ = 0;                          // calls in a row without a connection and without a child
  std::array<int, 2> lifeline_ = {-1, -1};  // the agent's end and ours; -1 = closed
};

// Beside this program's own binary.
[[nodiscard]] std::string sibling_program(const std::string& name);

}  // namespace tidepool::live
