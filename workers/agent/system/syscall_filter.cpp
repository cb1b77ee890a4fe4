#include "workers/agent/system/syscall_filter.hpp"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "workers/agent/system/wait_for_end.hpp"

namespace tidepool::agent {
namespace {

std::string words_of(int error) {
  return std::generic_category().message(error);
}

}  // namespace

bool enter_syscall_filter(const SyscallFilter& filter) {
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = const_cast<sock_filter*>(filter.data())};
  const auto enter = [&](unsigned flags) {
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
  };
  // Without the flag, kernels before 5.16 slow every load of a filtered process, as a protection against scripts in
  // browsers; kernels before 4.17 do not know the flag.
  return enter(SECCOMP_FILTER_FLAG_SPEC_ALLOW) || (errno == EINVAL && enter(0));
}

Status try_syscall_filter(const SyscallFilter& filter) {
  const pid_t child = ::fork();
  if (child < 0) return io_error("start a process: " + words_of(errno));
  if (child == 0) {
    const bool entered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && enter_syscall_filter(filter);
    ::_exit(entered ? 0 : errno);
  }
  const int status = wait_for_end(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok_status();
  return io_error("this host's kernel takes no system call filter" +
                  (WIFEXITED(status) ? ": " + words_of(WEXITSTATUS(status)) : std::string()));
}

}  // namespace tidepool::agent
