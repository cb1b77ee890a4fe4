// Waits for a child process of this one, across signals.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>

namespace tidepool::agent {

// As waitpid(2) tells its end; -1, which is no exit by itself, if there is no such child.
inline int wait_for_end(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace tidepool::agent
