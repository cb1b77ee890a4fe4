// A seccomp filter: what the kernel answers to the system calls of a program in the place of carrying them out.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

// Instructions for the kernel; empty = no filter.
using SyscallFilter = std::vector<sock_filter>;

// Puts this thread, and all that it starts, under the filter for good. Requires no_new_privs. Async-signal-safe; false
// with errno where the kernel refuses.
[[nodiscard]] bool enter_syscall_filter(const SyscallFilter& filter);

// Whether this host's kernel takes the filter; only a child tries it. The error says why not.
[[nodiscard]] Status try_syscall_filter(const SyscallFilter& filter);

}  // namespace tidepool::agent
