// The agent that a daemon with --local-slots or --dev brings along: a real agentd process in a session
// of its own, so that it and its workers outlive this daemon. After a restart the old one comes back
// by itself; a second one finds its lock taken and leaves.
#pragma once

#include <string>

#include <sys/types.h>

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
};

// The name under which it joins.
inline constexpr const char* kLocalNode = "local";

class EmbeddedAgent {
 public:
  explicit EmbeddedAgent(EmbeddedAgentOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Status start();
  // Reaps it, and starts it again if it is gone and nobody stands in for it. Called every second or so.
  void tend(bool connected);

 private:
  [[nodiscard]] Status spawn();

  EmbeddedAgentOptions options_;
  pid_t child_ = 0;  // 0 = none of ours
  int absent_ = 0;   // calls in a row without a connection and without a child
};

// Beside this program's own binary.
[[nodiscard]] std::string sibling_program(const std::string& name);

}  // namespace tidepool::live
