// What the agent passes to tidepool-confine, as CBOR on a descriptor of its own (system/start_failure.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace tidepool::agent {

// Where a confined program finds its own files, whatever the host's paths are.
namespace view {
inline constexpr const char* kRoot = "/run/tidepool";
inline constexpr const char* kSocketFolder = "/run/tidepool/agent";
inline constexpr const char* kSocket = "/run/tidepool/agent/w.sock";
inline constexpr const char* kJobFile = "/run/tidepool/job.json";
inline constexpr const char* kStates = "/run/tidepool/states";
inline constexpr const char* kTmp = "/tmp";
inline constexpr const char* kUser = "tidepool-job";  // name of the job's uid and gid in the view
}  // namespace view

struct ConfinePlan {
  std::string program;
  std::vector<std::string> places{};  // as ChildSpec::places
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string workdir;      // empty = /tmp of the job
  std::string make_folder;  // created by the program's own user before the program starts; empty = none
  uid_t uid = 0;            // also the only group
  SyscallFilter syscall_filter;

  // Paths on the host; each is a folder or file that the agent has prepared.
  std::string socket_folder;
  std::string job_file;
  std::string states;  // empty = the job names a folder of its own
  std::string tmp;
  std::string shared_memory;
  std::vector<std::string> hidden;            // replaced by an empty folder or file
  std::vector<std::string> devices;           // in addition to null, zero, full, random, urandom, tty and terminals
  std::vector<std::string> groups;            // the cgroup.procs files to enter
  std::optional<std::int64_t> processes_max;  // by rlimit, if no cgroup bounds them
  std::optional<std::int64_t> data_max;       // by rlimit, if no cgroup bounds it; bytes of each process
};

[[nodiscard]] std::string to_text(const ConfinePlan& plan);
[[nodiscard]] Result<ConfinePlan> plan_from_text(const std::string& text);

}  // namespace tidepool::agent
