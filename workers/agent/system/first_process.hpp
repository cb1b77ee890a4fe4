// For an agent that is the first process of a container. What workers leave behind becomes a child of the first
// process, and stays a zombie that counts in the container's bound of processes unless it is waited for. So the agent
// goes on in a child, and the first process waits for all that end.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace tidepool::agent {

// Returns at once where this is no first process of a pid namespace; else in the child, while the first process stands
// before it and ends with its exit code. Requires: no other thread runs yet.
void leave_first_process();

// Waits for every child that ends, and passes on to `child` each signal of `awaited`, which is blocked. Returns, once
// `child` has ended, its exit code, or 128 + the signal that ended it.
[[nodiscard]] int stand_before(pid_t child, const sigset_t& awaited);

}  // namespace tidepool::agent
