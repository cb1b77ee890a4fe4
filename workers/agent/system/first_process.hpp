// For an agent that is the first process of a container. Orphans of workers become children of the first process, and
// stay zombies that count against the container's process limit unless they are waited for. So the agent continues in a
// child, and the first process waits for everything that ends.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace tidepool::agent {

// Returns at once if this is not the first process of a pid namespace; else returns in the child, while the first
// process runs stand_before() and ends with the child's exit code. Requires: no other thread runs yet.
void leave_first_process();

// Waits for every child that ends, and forwards each signal of `awaited`, which is blocked, to `child`. After `child`
// has ended, returns its exit code, or 128 + the signal that ended it.
[[nodiscard]] int stand_before(pid_t child, const sigset_t& awaited);

}  // namespace tidepool::agent
