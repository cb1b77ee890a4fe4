// Ends a program with all that it has started, also what has made a process group of its own (timeout, a shell with job
// control). Only what has begun a session of its own is left.
#pragma once

#include <sys/types.h>

namespace tidepool::live {

// Sends SIGKILL until no process of the session lives, for a second at most: what the kernel holds back ends later.
// Requires: the session's leader is not reaped yet, so that its number is no other's.
void kill_session(pid_t leader);

}  // namespace tidepool::live
