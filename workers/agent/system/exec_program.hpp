// Becoming a program that is looked for at several places, as execvp(3) with PATH; but async-signal-safe, and only in
// the process that is to become it: a folder on a file system that does not answer must not hold up the agent.
#pragma once

#include <unistd.h>

#include <cerrno>

namespace tidepool::agent {

// Returns only if no place, a list that ends with null, has a program that can be run; errno says why.
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
