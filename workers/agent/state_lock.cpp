#include "workers/agent/state_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/files/whole_file.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

// `conflict_of` makes the message, given the process that holds the file.
Result<UniqueFd> lock_file(const std::filesystem::path& path,
                           const std::function<std::string(const std::string& holder)>& conflict_of) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return errno_error("open " + path.string());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return errno_error("lock " + path.string());
    const auto holder = read_whole_file(path);
    return conflict(conflict_of("another agent (pid " + (holder && !holder->empty() ? *holder : "unknown") + ")"));
  }
  if (::ftruncate(file.get(), 0) != 0) return errno_error("write " + path.string());
  TP_TRY(write_all(file.get(), std::to_string(::getpid())));
  return file;
}

}  // namespace

Result<UniqueFd> lock_state_dir(const std::filesystem::path& state_dir) {
  TP_TRY(make_private_folder(state_dir));
  return lock_file(state_dir / "lock", [&](const std::string& holder) {
    return holder + " already runs on " + state_dir.string() + "; stop it first, or choose another --state-dir";
  });
}

Result<std::vector<UniqueFd>> lock_gpus(const std::filesystem::path& folder, const std::vector<std::string>& uuids) {
  TP_TRY(make_private_folder(folder));
  std::vector<UniqueFd> locks;
  for (const std::string& uuid : uuids) {
    std::string name = uuid;
    std::replace(name.begin(), name.end(), '/', '_');  // older drivers call instances MIG-GPU-.../1/0
    auto lock = lock_file(folder / name, [&](const std::string& holder) {
      return holder + " offers " + uuid +
             " already; a GPU is one slot of one node, so give each agent GPUs of its own "
             "with --gpus, or CPU slots with --slots";
    });
    if (!lock) return lock.error();
    locks.push_back(*std::move(lock));
  }
  return locks;
}

std::filesystem::path folder_of_gpu_locks() {
  if (::geteuid() == 0) return "/run/tidepool/gpus";
  return "/tmp/tidepool-gpus-" + std::to_string(::geteuid());
}

}  // namespace tidepool::agent
