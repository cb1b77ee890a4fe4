#include "workers/agent/isolation/denied_calls.hpp"

#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <system_error>

#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {
namespace {

// The kernel reads only the lower half of such an argument, so the filter must do the same.
constexpr scmp_arg_cmp is_int(unsigned argument, std::uint32_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = 0xffff'ffff, .datum_b = value};
}

constexpr scmp_arg_cmp has_flag(unsigned argument, std::uint32_t flag) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = flag, .datum_b = flag};
}

class Rules {
 public:
  Rules() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (context_ == nullptr) failed_ = -ENOMEM;
  }
  ~Rules() { seccomp_release(context_); }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  void set(scmp_filter_attr attribute, std::uint32_t value) { note(seccomp_attr_set(context_, attribute, value)); }
  void deny(int error, std::initializer_list<int> calls) {
    for (const int call : calls) note(seccomp_rule_add(context_, SCMP_ACT_ERRNO(error), call, 0));
  }
  void deny_if(int error, int call, const scmp_arg_cmp& condition) {
    note(seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(error), call, 1, &condition));
  }
  [[nodiscard]] Result<SyscallFilter> instructions();

 private:
  void note(int code) { failed_ = failed_ == 0 ? code : failed_; }

  scmp_filter_ctx context_;
  int failed_ = 0;
};

// The libseccomp of Debian 12 can write its instructions only to files.
Result<SyscallFilter> Rules::instructions() {
  const UniqueFd file(::memfd_create("syscall filter", MFD_CLOEXEC));
  if (!file) return errno_error("create a file in memory");
  if (failed_ == 0) note(seccomp_export_bpf(context_, file.get()));
  if (failed_ != 0) return io_error("make a system call filter: " + std::generic_category().message(-failed_));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return errno_error("look at a system call filter");
  SyscallFilter filter(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  if (::pread(file.get(), filter.data(), filter.size() * sizeof(sock_filter), 0) != info.st_size) {
    return errno_error("read a system call filter");
  }
  return filter;
}

// A user namespace gives every capability within it, and so access to most kernel code that otherwise only root can
// reach.
void deny_namespaces(Rules& rules) {
  constexpr std::uint32_t kFlags[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                      CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
  for (const std::uint32_t flag : kFlags) {
    rules.deny_if(EPERM, SCMP_SYS(clone), has_flag(0, flag));
    rules.deny_if(EPERM, SCMP_SYS(unshare), has_flag(0, flag));
  }
  rules.deny_if(EPERM, SCMP_SYS(unshare), has_flag(0, CLONE_NEWTIME));
  rules.deny(EPERM, {SCMP_SYS(setns)});
  // Its flags are in memory, which a filter cannot read. C libraries use clone if it is missing.
  rules.deny(ENOSYS, {SCMP_SYS(clone3)});
}

void deny_mounts(Rules& rules) {
  rules.deny(EPERM, {SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
                     SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount),
                     SCMP_SYS(fspick), SCMP_SYS(mount_setattr)});
  // Opens a file by its number, bypassing every folder and mount.
  rules.deny(EPERM, {SCMP_SYS(open_by_handle_at)});
}

// Calls that affect the machine: kernel, modules, swap, ports, quotas, log, clock and name.
void deny_machine(Rules& rules) {
  rules.deny(EPERM,
             {SCMP_SYS(kexec_load),      SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),        SCMP_SYS(init_module),
              SCMP_SYS(finit_module),    SCMP_SYS(delete_module),   SCMP_SYS(create_module), SCMP_SYS(query_module),
              SCMP_SYS(get_kernel_syms), SCMP_SYS(swapon),          SCMP_SYS(swapoff),       SCMP_SYS(iopl),
              SCMP_SYS(ioperm),          SCMP_SYS(quotactl),        SCMP_SYS(quotactl_fd),   SCMP_SYS(acct),
              SCMP_SYS(syslog),          SCMP_SYS(nfsservctl),      SCMP_SYS(uselib),        SCMP_SYS(vhangup)});
  rules.deny(EPERM, {SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(stime), SCMP_SYS(sethostname),
                     SCMP_SYS(setdomainname)});
}

// Large parts of the kernel that any user can reach, and whose faults have let users become root.
void deny_kernel_programs(Rules& rules) {
  rules.deny(EPERM, {SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(lookup_dcookie)});
  // Keys are not separated by namespaces: other jobs of the same user would find them.
  rules.deny(EPERM, {SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl)});
  // Programs that can use io_uring work without it if it is missing.
  rules.deny(ENOSYS, {SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register)});
}

// Both insert text into a terminal as if its user had typed it.
void deny_typing(Rules& rules) {
  rules.deny_if(EPERM, SCMP_SYS(ioctl), is_int(1, TIOCSTI));
  rules.deny_if(EPERM, SCMP_SYS(ioctl), is_int(1, TIOCLINUX));
}

// The first socket of a family makes the kernel load its module. Training needs Unix, IP and netlink sockets (the
// latter to find interfaces); RDMA uses device files.
void deny_socket_families(Rules& rules) {
  constexpr std::uint32_t kFamilies = 64;  // more families than the kernel has
  for (std::uint32_t family = 0; family < kFamilies; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
      rules.deny_if(EAFNOSUPPORT, call, is_int(0, family));
    }
  }
}

}  // namespace

Result<SyscallFilter> make_syscall_filter() {
  Rules rules;
  // Calls by the convention of another architecture (32 bits, x32) would bypass the rules.
  rules.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  rules.set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree, so that each call costs a few comparisons
  deny_namespaces(rules);
  deny_mounts(rules);
  deny_machine(rules);
  deny_kernel_programs(rules);
  deny_typing(rules);
  deny_socket_families(rules);
  return rules.instructions();
}

}  // namespace tidepool::agent
