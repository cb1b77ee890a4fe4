// A seccomp filter: the kernel's answers to the system calls of a program that must not be carried out.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

// Instructions for the kernel; empty = no filter.
using SyscallFilter = std::vector<sock_filter>;

// Applies the filter permanently to this thread and all that it starts. Requires no_new_privs. Async-signal-safe; false
// with errno if the kernel refuses.
[[nodiscard]] bool enter_syscall_filter(const SyscallFilter& filter);

// Whether this host's kernel accepts the filter; only a child process tries it. The error says why not.
[[nodiscard]] Status try_syscall_filter(const SyscallFilter& filter);

}  // namespace tidepool::agent
