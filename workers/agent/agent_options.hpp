// The command line of agentd as a value, checked as a whole: every mistake is told, not only the first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "base/time.hpp"
#include "workers/agent/daemon_link.hpp"

namespace tidepool::agent {

struct AgentOptions {
  DaemonAddress daemon;
  std::filesystem::path state_dir;  // absolute
  std::string node;
  std::optional<int> cpu_slots;
  std::string slot_type;  // empty = from what is found
  std::string price_per_slot_hour = "1.00";
  std::filesystem::path token_file;  // empty = no token
  std::optional<Duration> exit_when_idle;
  bool stop_workers = false;    // at SIGTERM
  std::optional<int> lifeline;  // end of a pipe: when its other end closes, as at SIGTERM with stop_workers
  enum class Probe { kGpus, kAlways, kNever };
  Probe probe = Probe::kGpus;  // which devices are measured before the node joins
};

// The options; or the exit code, after help or the mistakes have been printed.
[[nodiscard]] std::variant<AgentOptions, int> parse_options(int argc, const char* const* argv);

// Refuses a file that others can read: anyone who has the token can act as this node.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& file);

}  // namespace tidepool::agent
