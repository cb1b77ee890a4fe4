#include "workers/agent/isolation/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace tidepool::agent {
namespace {

Error refused(const std::string& attempt) {
  const int error = errno;
  return io_error(attempt + ": " + std::generic_category().message(error));
}

// Stops at the first number that the kernel does not know.
Status drop_bounding_set() {
  for (int capability = 0; capability < 64; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
    if (errno == EINVAL) return ok_status();
    return refused("drop capability " + std::to_string(capability));
  }
  return ok_status();
}

Status set_no_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return refused("drop all capabilities");
  return ok_status();
}

Status check_user(uid_t uid) {
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  if (::getresuid(&real, &effective, &saved) != 0) return refused("look at the user");
  if (real != uid || effective != uid || saved != uid) return io_error("the user is not " + std::to_string(uid));
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct held[2] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return refused("look at the capabilities");
  for (const auto& half : held) {
    if ((half.effective | half.permitted | half.inheritable) != 0) return io_error("a capability was left");
  }
  return ok_status();
}

Status bound(int resource, std::int64_t value) {
  const rlimit both{.rlim_cur = static_cast<rlim_t>(value), .rlim_max = static_cast<rlim_t>(value)};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0) return refused("set a limit");
  return ok_status();
}

}  // namespace

Status drop_capabilities() {
  TP_TRY(drop_bounding_set());
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return refused("drop ambient capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("set no_new_privs");
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return refused("be unreadable");
  return set_no_capabilities();
}

Status become_user(uid_t uid) {
  TP_TRY(drop_bounding_set());
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return refused("drop ambient capabilities");
  if (::setgroups(0, nullptr) != 0) return refused("leave all groups");
  if (::setresgid(uid, uid, uid) != 0) return refused("take group " + std::to_string(uid));
  if (::setresuid(uid, uid, uid) != 0) return refused("take user " + std::to_string(uid));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("set no_new_privs");
  TP_TRY(set_no_capabilities());
  return check_user(uid);
}

Status set_limits(const ConfinePlan& plan) {
  TP_TRY(bound(RLIMIT_CORE, 0));
  if (plan.processes_max) TP_TRY(bound(RLIMIT_NPROC, *plan.processes_max));
  return plan.data_max ? bound(RLIMIT_DATA, *plan.data_max) : ok_status();
}

}  // namespace tidepool::agent
