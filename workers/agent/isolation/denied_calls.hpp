// The system calls that a job's program may not make: those that change the machine or the kernel, and those by whose
// faults programs have taken over kernels and that no training program needs. A deny list: calls that newer kernels
// add stay allowed. docs/security.md names what is denied.
#pragma once

#include "base/result.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace tidepool::agent {

[[nodiscard]] Result<SyscallFilter> make_syscall_filter();

}  // namespace tidepool::agent
