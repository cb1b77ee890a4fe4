// Waits for a child process of this process; interrupted waits are repeated.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>

namespace tidepool::agent {

// The status from waitpid(2); -1, which does not count as an exit, if there is no such child.
inline int wait_for_end(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace tidepool::agent
