// Executes a program that is searched at several places, like execvp(3) with PATH, but async-signal-safe. Call it only
// in the process that becomes the program: a folder on a file system that does not answer must not block the agent.
#pragma once

#include <unistd.h>

#include <cerrno>

namespace tidepool::agent {

// Returns only if no place contains an executable program; errno says why. `places` ends with null.
inline void exec_first(char* const* places, char* const* argv, char* const* environment) {
  int why = 0;
  for (; *places != nullptr; ++places) {
    ::execve(*places, argv, environment);
    const bool is_none_here = errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ESTALE ||
                              errno == ETIMEDOUT || errno == ENAMETOOLONG;
    if (why == 0 || errno == EACCES || !is_none_here) why = errno;
    if (!is_none_here) break;
  }
  errno = why;
}

}  // namespace tidepool::agent
