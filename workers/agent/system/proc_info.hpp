// What the kernel reports about processes that may not be the agent's children: read from /proc and pidfds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"

namespace tidepool::agent {

struct ProcStat {
  char state = '?';  // 'Z' = ended, not yet reaped by its parent
  pid_t group = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot
  int wait_status = 0;           // meaningful for a zombie
};

[[nodiscard]] std::optional<ProcStat> read_proc_stat(pid_t pid);

// Changes at every boot, so that pids and start times of an earlier boot are never mistaken for current ones.
[[nodiscard]] std::string boot_id();

// The wait status of an ended process that is not the agent's child: from /proc while it is a zombie, afterwards from
// its pidfd if the kernel supports it (Linux 6.15). Nothing if it cannot be determined.
[[nodiscard]] std::optional<int> wait_status_of_stranger(pid_t pid, int pidfd);

// The machine's processes for which `wanted` is true; it receives each process's folder in `proc`. An error means that
// the list is not known: it proves nothing.
using ProcessTest = std::function<bool(const std::filesystem::path&, const ProcStat&)>;
[[nodiscard]] Result<std::vector<pid_t>> processes_where(const ProcessTest& wanted,
                                                         const std::filesystem::path& proc = "/proc");

// Members of `group` that have this worker's id in their environment: they belong to the worker, however late they are
// looked up.
[[nodiscard]] Result<std::vector<pid_t>> group_members(pid_t group, WorkerId worker);

// Living processes of this user, in any group, that have `entry` ("NAME=value") in their environment.
[[nodiscard]] Result<std::vector<pid_t>> processes_with(const std::string& entry);

// This process's own environment.
[[nodiscard]] std::map<std::string, std::string> own_environment();

}  // namespace tidepool::agent
