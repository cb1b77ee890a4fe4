// The command line of agentd as a value, checked as a whole: every mistake is told, not only the first.
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
  std::string slot_type;  // empty = from what is found
  std::string gpus;       // a type, or UUIDs or their beginnings with commas between; empty = all of the host
  std::string price_per_slot_hour = "1.00";
  std::filesystem::path token_file;  // empty = no token
  // By what a daemon with TLS is known: one of them, or neither for a plain link.
  std::filesystem::path ca_file;
  std::string ca_fingerprint;
  std::string data_address;  // address, interface or network; empty = from which the daemon is reached
  std::optional<Duration> exit_when_idle;
  bool stop_workers = false;             // at SIGTERM
  std::optional<int> lifeline;           // end of a pipe: when its other end closes, as at SIGTERM with stop_workers
  std::optional<JoinOptions> join;       // given: joins first, if this folder has not
  std::optional<NodeIdentity> identity;  // of a node that has joined
  enum class Probe { kGpus, kAlways, kNever };
  std::int64_t state_rate = 0;  // bytes a second at which saved states are handed to other agents; 0 = no bound
  IsolationOptions isolation;
  NoticeOptions notice;
  Probe probe = Probe::kGpus;  // which devices are measured before the node joins

  // Where states are left in the node's memory: a folder of this agent's own, by its state folder, because it moves
  // away whatever lies there when it starts. Empty = this node has no memory for them.
  [[nodiscard]] std::filesystem::path memory_folder() const;
  // Where agents of earlier versions left them, and where `/dev/shm` of confined jobs lies. The agents of one host
  // share it, unless they offer parts of the host.
  [[nodiscard]] std::filesystem::path shared_memory_folder() const;
};

// The options; or the exit code, after help or the mistakes have been printed.
[[nodiscard]] std::variant<AgentOptions, int> parse_options(int argc, const char* const* argv);

// Refuses a file that others can read: anyone who has the token can act as this node.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& file);

[[nodiscard]] std::string host_name();

// Takes up what the folder of a node that has joined keeps, or joins. Without effect where another way to the daemon is
// given. Requires: the folder is locked by this process.
[[nodiscard]] Status take_up_identity(AgentOptions& options);

// In the place of `data_address` the address that it names. Fails if there is none, or if it is one that
// `isolation.denied` would keep this node's own workers from, as far as that is known before there is a link.
[[nodiscard]] Status settle_data_address(AgentOptions& options);

// Gives the daemon's address what `ca_file` or `ca_fingerprint` says. Fails in words if either is of no use.
[[nodiscard]] Status secure_link(AgentOptions& options);

}  // namespace tidepool::agent
