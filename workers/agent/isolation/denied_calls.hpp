// The system calls that a job's program must not make: calls that change the machine or the kernel, and calls that no
// training program needs and whose faults programs have used to take over kernels. A deny list: calls that newer
// kernels add stay allowed. docs/security.md lists the denied calls.
#pragma once

#include "base/result.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace tidepool::agent {

[[nodiscard]] Result<SyscallFilter> make_syscall_filter();

}  // namespace tidepool::agent
