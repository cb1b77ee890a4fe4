#include "workers/agent/isolation/view.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
constexpr const char* kTmpStage = "/run/tidepool/tmp";
constexpr const char* kMemoryStage = "/run/tidepool/shm";
constexpr const char* kDevStage = "/run/tidepool/dev";

Error failed_to(const std::string& attempt) {
  const int error = errno;
  return io_error(attempt + ": " + std::generic_category().message(error));
}

Status mount_at(const char* type, const std::string& at, unsigned long flags, const char* options = nullptr) {
  if (::mount(type, at.c_str(), type, flags, options) == 0) return ok_status();
  return failed_to("mount " + std::string(type) + " on " + at);
}

Status show(const std::string& from, const std::string& at) {
  if (::mount(from.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0) return ok_status();
  return failed_to("show " + from + " at " + at);
}

// A bind mount accepts its flags only in a second call.
Status limit(const std::string& at, unsigned long flags) {
  if (::mount(nullptr, at.c_str(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) == 0) return ok_status();
  return failed_to("limit " + at);
}

Status make_folder(const std::string& path, mode_t mode = 0755) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return ok_status();
  return failed_to("make " + path);
}

Status make_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
  if (file < 0) return failed_to("make " + path);
  ::close(file);
  return ok_status();
}

Status show_folder(const std::string& from, const std::string& at) {
  TP_TRY(make_folder(at));
  TP_TRY(show(from, at));
  return limit(at, kPlain);
}

Status show_own_part(const ConfinePlan& plan) {
  TP_TRY(mount_at("tmpfs", view::kRoot, kPlain, "mode=0755,size=16m"));
  TP_TRY(show_folder(plan.socket_folder, view::kSocketFolder));
  TP_TRY(make_file(view::kJobFile));
  TP_TRY(show(plan.job_file, view::kJobFile));
  TP_TRY(limit(view::kJobFile, kPlain | MS_RDONLY));
  if (!plan.states.empty()) TP_TRY(show_folder(plan.states, view::kStates));
  TP_TRY(show_folder(plan.tmp, kTmpStage));
  return show_folder(plan.shared_memory, kMemoryStage);
}

// Shows the host's list of users or groups with one line added.
Status show_list(const std::string& list, const std::string& line) {
  std::ifstream host(list, std::ios::binary);
  if (!host) return ok_status();
  std::string text((std::istreambuf_iterator<char>(host)), {});
  if (!text.empty() && text.back() != '\n') text += '\n';
  const std::string own = std::string(view::kRoot) + "/" + fs::path(list).filename().string();
  std::ofstream(own, std::ios::binary) << text << line << '\n' << std::flush;
  if (fs::file_size(own) != text.size() + line.size() + 1) return failed_to("write " + own);
  if (::chmod(own.c_str(), 0644) != 0) return failed_to("show " + own);  // independent of the agent's umask
  TP_TRY(show(own, list));
  return limit(list, kPlain | MS_RDONLY);
}

// Programs such as PyTorch look up the name of their user and fail without one.
Status name_user(uid_t uid) {
  const std::string user = view::kUser;
  const std::string number = std::to_string(uid);
  TP_TRY(show_list("/etc/passwd", user + ":x:" + number + ":" + number + "::/tmp:/bin/sh"));
  return show_list("/etc/group", user + ":x:" + number + ":");
}

Status show_device(const std::string& device) {
  const std::string at = kDevStage + device.substr(4);
  struct stat info{};
  if (::stat(device.c_str(), &info) != 0) return ok_status();
  std::error_code error;
  fs::create_directories(fs::path(at).parent_path(), error);
  if (S_ISDIR(info.st_mode)) {
    TP_TRY(make_folder(at));
  } else {
    TP_TRY(make_file(at));
  }
  return show(device, at);
}

// The program and its children cannot create device nodes of their own: that needs a capability.
Status make_devices(const ConfinePlan& plan) {
  TP_TRY(make_folder(kDevStage));
  TP_TRY(mount_at("tmpfs", kDevStage, MS_NOSUID | MS_NOEXEC, "mode=0755,size=1m"));
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
    TP_TRY(show_device(device));
  }
  for (const std::string& device : plan.devices) TP_TRY(show_device(device));
  const std::string stage = kDevStage;
  TP_TRY(make_folder(stage + "/pts"));
  TP_TRY(mount_at("devpts", stage + "/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"));
  TP_TRY(make_folder(stage + "/shm"));
  TP_TRY(show(kMemoryStage, stage + "/shm"));
  TP_TRY(limit(stage + "/shm", kPlain));
  for (const auto& [target, name] : {std::pair{"pts/ptmx", "/ptmx"},
                                     {"/proc/self/fd", "/fd"},
                                     {"/proc/self/fd/0", "/stdin"},
                                     {"/proc/self/fd/1", "/stdout"},
                                     {"/proc/self/fd/2", "/stderr"}}) {
    if (::symlink(target, (stage + name).c_str()) != 0) return failed_to("make " + stage + name);
  }
  TP_TRY(limit(kDevStage, MS_NOSUID | MS_NOEXEC | MS_RDONLY));
  if (::mount(kDevStage, "/dev", nullptr, MS_MOVE, nullptr) != 0) return failed_to("move the devices to /dev");
  return ok_status();
}

Status show_tmp() {
  for (const char* at : {"/tmp", "/var/tmp"}) {
    TP_TRY(show(kTmpStage, at));
    TP_TRY(limit(at, kPlain));
  }
  for (const char* stage : {kTmpStage, kMemoryStage}) {
    if (::umount2(stage, MNT_DETACH) != 0) return failed_to("unmount " + std::string(stage));
    ::rmdir(stage);
  }
  ::rmdir(kDevStage);
  return ok_status();
}

// A path that no longer exists in the view, such as below /tmp, needs no hiding.
Status hide(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return ok_status();
  if (S_ISDIR(info.st_mode)) return mount_at("tmpfs", path, kPlain | MS_RDONLY, "mode=0555,size=4k");
  return show("/dev/null", path);
}

}  // namespace

Status make_view(const ConfinePlan& plan) {
  if (::chdir("/") != 0) return failed_to("go to /");
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) return failed_to("take namespaces of its own");
  // Later mounts of the host become visible here; mounts made here stay here.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return failed_to("part from the host's mounts");
  TP_TRY(show_own_part(plan));
  TP_TRY(name_user(plan.uid));
  TP_TRY(make_devices(plan));
  for (const std::string& path : plan.hidden) TP_TRY(hide(path));
  TP_TRY(show_tmp());
  TP_TRY(mount_at("proc", "/proc", kPlain | MS_NOEXEC));
  return limit(view::kRoot, kPlain | MS_RDONLY);
}

}  // namespace tidepool::agent
