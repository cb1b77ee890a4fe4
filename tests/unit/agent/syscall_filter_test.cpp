#include "workers/agent/system/syscall_filter.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "workers/agent/isolation/denied_calls.hpp"
#include "workers/agent/system/child_answer.hpp"

namespace tidepool::agent {
namespace {

constexpr int kRefused = 200;  // no errno

const SyscallFilter& filter() {
  static const SyscallFilter made = make_syscall_filter().value();
  return made;
}

// What `work` returns in a child under the filter, which must be below 200.
int under_filter(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool entered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && enter_syscall_filter(filter());
    ::_exit(entered ? work() : kRefused);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// 0, or errno of a call.
int outcome(long answer) {
  return answer < 0 ? errno : 0;
}

int outcome_of(long call, long first, long second = -1) {
  return under_filter([=] { return outcome(::syscall(call, first, second, -1L, -1L, -1L, -1L)); });
}

struct Call {
  const char* name;
  long number;
};

// With arguments of -1, by which none does anything where no filter denies it.
constexpr Call kDenied[] = {{"setns", SYS_setns},
                            {"mount", SYS_mount},
                            {"umount2", SYS_umount2},
                            {"pivot_root", SYS_pivot_root},
                            {"chroot", SYS_chroot},
                            {"move_mount", SYS_move_mount},
                            {"open_tree", SYS_open_tree},
                            {"fsopen", SYS_fsopen},
                            {"fsconfig", SYS_fsconfig},
                            {"fsmount", SYS_fsmount},
                            {"fspick", SYS_fspick},
                            {"mount_setattr", SYS_mount_setattr},
                            {"open_by_handle_at", SYS_open_by_handle_at},
                            {"kexec_load", SYS_kexec_load},
                            {"reboot", SYS_reboot},
                            {"init_module", SYS_init_module},
                            {"finit_module", SYS_finit_module},
                            {"delete_module", SYS_delete_module},
                            {"swapon", SYS_swapon},
                            {"swapoff", SYS_swapoff},
                            {"quotactl", SYS_quotactl},
                            {"quotactl_fd", SYS_quotactl_fd},
                            {"acct", SYS_acct},
                            {"syslog", SYS_syslog},
                            {"settimeofday", SYS_settimeofday},
                            {"clock_settime", SYS_clock_settime},
                            {"sethostname", SYS_sethostname},
                            {"setdomainname", SYS_setdomainname},
                            {"bpf", SYS_bpf},
                            {"perf_event_open", SYS_perf_event_open},
                            {"userfaultfd", SYS_userfaultfd},
                            {"add_key", SYS_add_key},
                            {"request_key", SYS_request_key},
                            {"keyctl", SYS_keyctl},
#ifdef __x86_64__
                            {"kexec_file_load", SYS_kexec_file_load},
                            {"iopl", SYS_iopl},
                            {"ioperm", SYS_ioperm}
#endif
};

}  // namespace

TEST_CASE("a kernel with seccomp takes the filter") {
  const Status taken = try_syscall_filter(filter());
  INFO((taken.ok() ? std::string() : taken.error().message));
  CHECK(taken.ok());
  const SyscallFilter nonsense(1, sock_filter{.code = 0xffff, .jt = 0, .jf = 0, .k = 0});
  const Status refused = try_syscall_filter(nonsense);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Catch::Contains("no system call filter: Invalid argument"));
}

TEST_CASE("what changes the machine or opens much of the kernel is denied with EPERM, also to root") {
  for (const Call& call : kDenied) {
    INFO(call.name);
    CHECK(outcome_of(call.number, -1) == EPERM);
  }
}

TEST_CASE("namespaces are denied by clone and unshare, and clone3 is as if it were missing") {
  for (const long flag :
       {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP}) {
    INFO(flag);
    CHECK(outcome_of(SYS_unshare, flag) == EPERM);
    CHECK(outcome_of(SYS_unshare, flag | CLONE_FS) == EPERM);
    CHECK(under_filter([flag] {
            const long child = ::syscall(SYS_clone, flag | SIGCHLD, nullptr, nullptr, nullptr, 0);
            if (child == 0) ::_exit(0);
            return outcome(child);
          }) == EPERM);
  }
  CHECK(outcome_of(SYS_unshare, CLONE_NEWTIME) == EPERM);
  CHECK(outcome_of(SYS_unshare, CLONE_FILES | CLONE_FS) == 0);
  CHECK(outcome_of(SYS_clone3, -1) == ENOSYS);
}

TEST_CASE("io_uring is as if it were missing") {
  for (const long call : {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
    CHECK(outcome_of(call, -1) == ENOSYS);
  }
}

TEST_CASE("text cannot be put into a terminal, whatever the upper half of the request says") {
  for (const long request : {long{TIOCSTI}, long{TIOCLINUX}}) {
    CHECK(outcome_of(SYS_ioctl, -1, request) == EPERM);
    CHECK(outcome_of(SYS_ioctl, -1, request | (1L << 32)) == EPERM);
  }
  CHECK(outcome_of(SYS_ioctl, -1, FIONREAD) == EBADF);
}

TEST_CASE("sockets are those of Unix, IP and netlink") {
  const auto opened = [](int family, int type) {
    return under_filter([=] { return outcome(::socket(family, type, 0)); });
  };
  CHECK(opened(AF_UNIX, SOCK_STREAM) == 0);
  CHECK(opened(AF_INET, SOCK_STREAM) == 0);
  CHECK(opened(AF_INET, SOCK_DGRAM) == 0);
  CHECK(opened(AF_NETLINK, SOCK_RAW) == 0);
  CHECK((opened(AF_INET6, SOCK_STREAM) == 0 || opened(AF_INET6, SOCK_STREAM) == outcome(::socket(AF_INET6, 1, 0))));
  for (const int family : {AF_PACKET, AF_ALG, AF_VSOCK, AF_CAN, AF_TIPC, AF_BLUETOOTH, AF_RDS, AF_XDP}) {
    INFO(family);
    CHECK(opened(family, SOCK_RAW) == EAFNOSUPPORT);
    CHECK(outcome_of(SYS_socket, family | (1L << 32), SOCK_RAW) == EAFNOSUPPORT);
  }
  CHECK(outcome_of(SYS_socketpair, AF_TIPC, SOCK_STREAM) == EAFNOSUPPORT);
  CHECK(under_filter([] {
          int ends[2];
          return outcome(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
        }) == 0);
}

#ifdef __x86_64__
TEST_CASE("calls in the manner of another architecture do not pass by the filter") {
  constexpr long kX32 = 0x40000000;
  CHECK(outcome_of(kX32 | SYS_getpid, 0) == ENOSYS);
  constexpr int kGetpidOf32Bits = 20;
  const int answered = under_filter([] {
    ::signal(SIGSEGV, SIG_DFL);
    long answer = kGetpidOf32Bits;
    asm volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
    return static_cast<int>(-answer);
  });
  CHECK((answered == ENOSYS || answered == -SIGSEGV));  // the latter of a kernel that has no such calls
}
#endif

TEST_CASE("threads, processes, memory and looking at own processes go on under the filter") {
  CHECK(under_filter([] {
          int sum = 0;
          std::thread([&] { sum += 7; }).join();
          return sum;
        }) == 7);
  CHECK(under_filter([] { return ::system("exit 3") >> 8; }) == 3);
  CHECK(under_filter([] { return outcome(::memfd_create("m", MFD_CLOEXEC)); }) == 0);
  CHECK(under_filter([] { return outcome(::personality(ADDR_NO_RANDOMIZE)); }) == 0);
  CHECK(under_filter([] {
          cpu_set_t cpus;
          return ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? outcome(::sched_setaffinity(0, sizeof cpus, &cpus))
                                                                 : kRefused;
        }) == 0);
  CHECK(under_filter([] {
          char from = 'a';
          char to = 0;
          const iovec here{.iov_base = &to, .iov_len = 1};
          const iovec there{.iov_base = &from, .iov_len = 1};
          return outcome(::process_vm_readv(::getpid(), &here, 1, &there, 1, 0));
        }) == 0);
}

TEST_CASE("a program that is started for a job is under the filter, one that is not is not") {
  const auto filters = [](const SyscallFilter& of) {
    ChildSpec spec{.program = "/bin/sh", .argv = {"sh", "-c", "grep Seccomp_filters /proc/self/status | cut -f2"}};
    spec.syscall_filter = of;
    return std::stoi(ask_child(spec, {.within = std::chrono::seconds(20), .text_max = 100}).value().text);
  };
  CHECK(filters(filter()) == filters({}) + 1);  // the test may run in a container that has one
}

}  // namespace tidepool::agent
