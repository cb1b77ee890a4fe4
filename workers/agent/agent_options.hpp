// The command line of agentd as a value. It is checked as a whole: every mistake is reported, not only the first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "base/time.hpp"
#include "workers/agent/daemon_link.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/join.hpp"
#include "workers/agent/node_identity.hpp"
#include "workers/agent/notice/notice_source.hpp"

namespace tidepool::agent {

struct AgentOptions {
  DaemonAddress daemon;
  std::filesystem::path state_dir;  // absolute
  std::string node;
  std::optional<int> cpu_slots;
  std::string slot_type;  // empty = derived from the devices found
  std::string gpus;       // a type, or UUIDs or their beginnings, separated by commas; empty = all GPUs of the host
  std::string price_per_slot_hour = "1.00";
  std::filesystem::path token_file;  // empty = no token
  // How the agent verifies a daemon with TLS: at most one of the two is set; neither for a plain link.
  std::filesystem::path ca_file;
  std::string ca_fingerprint;
  std::string data_address;  // address, interface or network; empty = this node's address on the link to the daemon
  std::optional<Duration> exit_when_idle;
  bool stop_workers = false;  // at SIGTERM
  // One end of a pipe: when the other end closes, the agent ends as at SIGTERM with stop_workers.
  std::optional<int> lifeline;
  std::optional<JoinOptions> join;       // set: joins first, if this state folder has not joined yet
  std::optional<NodeIdentity> identity;  // of a node that has joined
  enum class Probe { kGpus, kAlways, kNever };
  std::int64_t state_rate = 0;  // bytes per second at which saved states are sent to other agents; 0 = no limit
  IsolationOptions isolation;
  NoticeOptions notice;
  Probe probe = Probe::kGpus;  // which devices are measured before the node joins

  // Where workers leave states in the node's memory: a folder of this agent alone, derived from its state folder,
  // because the agent moves away everything in it when it starts. Empty = this node has no memory for states.
  [[nodiscard]] std::filesystem::path memory_folder() const;
  // Where workers of agents of earlier versions left states, and where `/dev/shm` of confined jobs is placed. The
  // agents of one host share it, unless they offer parts of the host.
  [[nodiscard]] std::filesystem::path shared_memory_folder() const;
};

// Returns the options; or the exit code, after help or the mistakes have been printed.
[[nodiscard]] std::variant<AgentOptions, int> parse_options(int argc, const char* const* argv);

// Refuses a file that others can read: anyone who has the token can act as this node.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& file);

[[nodiscard]] std::string host_name();

// Loads the identity from the folder of a node that has joined, or joins. No effect if the options give another way to
// the daemon. Requires: this process has locked the folder.
[[nodiscard]] Status take_up_identity(AgentOptions& options);

// Replaces `data_address` by the address that it names. Fails if there is none, or if `isolation.denied` would deny
// that address to this node's own workers, as far as that is known before there is a link.
[[nodiscard]] Status settle_data_address(AgentOptions& options);

// Applies `ca_file` or `ca_fingerprint` to the daemon's address. The error says why either cannot be used.
[[nodiscard]] Status secure_link(AgentOptions& options);

}  // namespace tidepool::agent
