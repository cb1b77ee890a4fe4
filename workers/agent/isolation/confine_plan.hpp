// What tidepool-confine is told by the agent, on a descriptor of its own (system/start_failure.hpp), as CBOR.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace tidepool::agent {

// Where a confined program finds what is its own, whatever the host's paths are.
namespace view {
inline constexpr const char* kRoot = "/run/tidepool";
inline constexpr const char* kSocketFolder = "/run/tidepool/agent";
inline constexpr const char* kSocket = "/run/tidepool/agent/w.sock";
inline constexpr const char* kJobFile = "/run/tidepool/job.json";
inline constexpr const char* kStates = "/run/tidepool/states";
inline constexpr const char* kTmp = "/tmp";
inline constexpr const char* kUser = "tidepool-job";  // what the job's uid and gid are called there
}  // namespace view

struct ConfinePlan {
  std::string program;
  std::vector<std::string> places{};  // as ChildSpec::places
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string workdir;      // empty = /tmp of the job
  std::string make_folder;  // made by the program's own user before it starts; empty = none
  uid_t uid = 0;            // also the only group
  SyscallFilter syscall_filter;

  // On the host, each a folder or file that the agent has prepared.
  std::string socket_folder;
  std::string job_file;
  std::string states;  // empty = the job names a folder of its own
  std::string tmp;
  std::string shared_memory;
  std::vector<std::string> hidden;            // an empty folder or file in their place
  std::vector<std::string> devices;           // besides null, zero, full, random, urandom, tty and terminals
  std::vector<std::string> groups;            // the cgroup.procs files to enter
  std::optional<std::int64_t> processes_max;  // by rlimit, where no cgroup bounds them
  std::optional<std::int64_t> data_max;       // likewise, bytes of each process
};

[[nodiscard]] std::string to_text(const ConfinePlan& plan);
[[nodiscard]] Result<ConfinePlan> plan_from_text(const std::string& text);

}  // namespace tidepool::agent
