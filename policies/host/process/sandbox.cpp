#include "policies/host/process/sandbox.hpp"

#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <initializer_list>

#include "policies/host/shared_image.hpp"

namespace tidepool::policies::host::process {
namespace {

constexpr uid_t kNobody = 65'534;

Locked refused(const char* step, int failed) {
  return {.ok = false, .step = step, .failed = failed};
}

// A limit that is lower already stays.
bool limit(__rlimit_resource_t what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return false;
  const rlim_t lower = std::min(most, now.rlim_max);
  const rlimit both{.rlim_cur = lower, .rlim_max = lower};
  return setrlimit(what, &both) == 0;
}

// What this process has mapped, in bytes; a sanitizer's shadow counts too, and so costs the policy nothing.
std::uint64_t mapped_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long long pages = 0;
  const bool read = file != nullptr && std::fscanf(file, "%llu", &pages) == 1;
  if (file != nullptr) (void)std::fclose(file);
  return read ? std::uint64_t{pages} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Tells the daemon which call it was, and ends. Only async-signal-safe calls, and only allowed ones.
void on_forbidden_call(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const Reply reply{.status = ReplyStatus::kForbidden, .hooks = static_cast<std::uint32_t>(info->si_syscall)};
  (void)!send(kChannelFd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  _exit(1);
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_TRAP)) {}
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void allow(std::initializer_list<int> calls) {
    for (const int call : calls) note(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 0));
  }
  void allow_if(int call, const scmp_arg_cmp& condition) {
    note(seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, call, 1, &condition));
  }
  void allow_if(int call, const scmp_arg_cmp& one, const scmp_arg_cmp& two) {
    const std::array both{one, two};
    note(seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, call, 2, both.data()));
  }
  // 0, or the first code that was not.
  int load() {
    note(context_ == nullptr ? -ENOMEM : seccomp_load(context_));
    return failed_;
  }

 private:
  void note(int code) { failed_ = failed_ == 0 ? code : failed_; }

  scmp_filter_ctx context_;
  int failed_ = 0;
};

constexpr scmp_arg_cmp without(unsigned argument, std::uint64_t bits) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = 0};
}

constexpr scmp_arg_cmp exactly(unsigned argument, std::uint64_t value) {
  return {.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
}

// What pure computation needs: memory, the channel, its own end. Reading a clock is allowed because it can be done
// without a system call anyway; Lua has no function for it.
void allow_computing(Filter& filter) {
  filter.allow({SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
                SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(sigaltstack), SCMP_SYS(exit),
                SCMP_SYS(exit_group), SCMP_SYS(clock_gettime), SCMP_SYS(time), SCMP_SYS(gettimeofday), SCMP_SYS(getpid),
                SCMP_SYS(gettid), SCMP_SYS(sched_yield)});
  filter.allow_if(SCMP_SYS(recvfrom), exactly(0, kChannelFd));
  filter.allow_if(SCMP_SYS(sendto), exactly(0, kChannelFd));
  // Last words of a runtime library go to standard error, which is nowhere.
  filter.allow_if(SCMP_SYS(write), exactly(0, STDERR_FILENO));
  filter.allow_if(SCMP_SYS(writev), exactly(0, STDERR_FILENO));
  filter.allow_if(SCMP_SYS(ioctl), exactly(0, STDERR_FILENO), exactly(1, TCGETS));
  // abort() may end the process as such, and no other process.
  filter.allow_if(SCMP_SYS(tgkill), exactly(0, static_cast<std::uint64_t>(getpid())), exactly(2, SIGABRT));
}

}  // namespace

Locked drop_rights() {
  if (close_range(kSourceFd + 1, ~0U, 0) != 0) return refused("close_range", errno);
  if (geteuid() == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      return refused("setresuid", errno);
    }
  }
  // After the change of user, which clears it. If the parent has died in between, the channel says so.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return refused("prctl", errno);
  const bool limited = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NPROC, 0) &&
                       limit(RLIMIT_MEMLOCK, 0) && limit(RLIMIT_CPU, kProcessorSeconds);
  if (!limited) return refused("setrlimit", errno);
  struct sigaction action = {};
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return refused("sigaction", errno);
  return {.ok = true};
}

Locked allow_loading(std::uint64_t memory) {
  const std::uint64_t mapped = mapped_bytes();
  if (mapped == 0) return refused("/proc/self/statm", errno);
  // The loader opens the source through /proc/self/fd, which belongs to root after a change of user unless the process
  // may be looked at; enter() takes that back.
  if (prctl(PR_SET_DUMPABLE, 1) != 0) return refused("prctl", errno);
  if (!limit(RLIMIT_AS, mapped + memory) || !limit(RLIMIT_NOFILE, 64)) return refused("setrlimit", errno);
  Filter filter;
  allow_computing(filter);
  filter.allow({SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
                SCMP_SYS(stat), SCMP_SYS(lseek), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access),
                SCMP_SYS(faccessat), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(seccomp), SCMP_SYS(getrandom)});
  filter.allow_if(SCMP_SYS(openat), without(2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC));
  filter.allow_if(SCMP_SYS(open), without(1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC));
  // A library's constructors run here. They may neither set limits of other processes, nor have signals sent to them
  // (F_SETOWN), nor outlive the daemon (PR_SET_PDEATHSIG).
  filter.allow_if(SCMP_SYS(prlimit64), exactly(0, 0));
  for (const int command : {F_GETFD, F_SETFD, F_GETFL}) {
    filter.allow_if(SCMP_SYS(fcntl), exactly(1, static_cast<std::uint64_t>(command)));
  }
  for (const int option : {PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP}) {
    filter.allow_if(SCMP_SYS(prctl), exactly(0, static_cast<std::uint64_t>(option)));
  }
  if (const int failed = filter.load(); failed != 0) return refused("seccomp", failed);
  return {.ok = true};
}

Locked enter(std::uint64_t memory) {
  const std::uint64_t mapped = mapped_bytes();
  if (mapped == 0) return refused("/proc/self/statm", errno);
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return refused("prctl", errno);
  if (!limit(RLIMIT_AS, mapped + memory) || !limit(RLIMIT_NOFILE, 0)) return refused("setrlimit", errno);
  Filter filter;
  allow_computing(filter);
  filter.allow_if(SCMP_SYS(mmap), without(2, PROT_EXEC));
  filter.allow_if(SCMP_SYS(mprotect), without(2, PROT_EXEC));
  if (const int failed = filter.load(); failed != 0) return refused("seccomp", failed);
  return {.ok = true};
}

}  // namespace tidepool::policies::host::process
