// Starts one process in a session and group of its own. It has no descriptor of the agent except its log, does not run
// before the caller has recorded it, outlives the agent, and gains no privilege.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/system/syscall_filter.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

struct ChildSpec {
  std::string program;                   // a path; or a name that is found through `places`
  std::vector<std::string> argv;         // with the program's name first
  std::vector<std::string> environment;  // "NAME=value"
  std::string workdir;                   // empty = the agent's own
  std::vector<std::string> places{};     // paths: the first executable one is the program; empty = `program` itself
  std::string make_folder{};             // created with its parent folders before the program runs; empty = none
  int output = -1;                       // becomes stdout and stderr; still owned by the caller
  std::vector<int> cpus;                 // that it may run on; empty = the agent's CPUs
  SyscallFilter syscall_filter;          // empty = none; a confined program has the filter of its plan
  // Command line of tidepool-confine, which starts the program in a pid namespace, and its plan. Empty = the program
  // runs as the agent's user, in the agent's own namespaces.
  std::vector<std::string> confiner;
  std::string plan;
};

// In the format of ChildSpec::environment.
[[nodiscard]] std::vector<std::string> entries_of(const std::map<std::string, std::string>& environment);

// The start of a process that had not executed its program when start_child returned.
struct OpenStart {
  UniqueFd failures;
  std::string program;
  std::string workdir;
  bool confined = false;

  // Why the process, which has ended, never executed its program; nothing if it did, or if it was ended before.
  [[nodiscard]] std::optional<Error> failure() const;
};

struct ChildProcess {
  pid_t pid = 0;  // also the id of its process group
  UniqueFd pidfd;
  std::optional<OpenStart> open_start{};
};

// `record` runs while the child waits; if it fails, the child ends without having run. An error with code
// kInvalidArgument means that the program or the folder is wrong; any other, that this node failed. If a file
// system does not answer, even one with the child's folders, the child is returned after half a second with its
// start open.
[[nodiscard]] Result<ChildProcess> start_child(const ChildSpec& spec, const std::function<Status(pid_t)>& record);

// pidfd_open(2); invalid if there is no such process.
[[nodiscard]] UniqueFd open_pidfd(pid_t pid);

}  // namespace tidepool::agent
