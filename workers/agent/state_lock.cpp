#include "workers/agent/state_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <string>

#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {

Result<UniqueFd> lock_state_dir(const std::filesystem::path& state_dir) {
  TP_TRY(make_private_folder(state_dir));
  const auto path = state_dir / "lock";
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return errno_error("open " + path.string());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return errno_error("lock " + path.string());
    const auto holder = read_file(path);
    return conflict("another agent (pid " + (holder && !holder->empty() ? *holder : "unknown") + ") already runs on " +
                    state_dir.string());
  }
  if (::ftruncate(file.get(), 0) != 0) return errno_error("write " + path.string());
  TP_TRY(write_all(file.get(), std::to_string(::getpid())));
  return file;
}

}  // namespace tidepool::agent
