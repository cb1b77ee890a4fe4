#include "schedulerd/live/setup/state_dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

Error cannot_use(const std::string& path, const std::string& why) {
  return invalid_argument("cannot use the state directory " + path + ": " + why +
                          "; choose another with --state-dir or mend its permissions");
}

// A full or failing disk, or a machine without files or memory left, may be right again at the next start.
bool may_pass(int code) {
  constexpr std::array kPassing = {EIO, ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN};
  return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end();
}

Error cannot_open(const std::string& path) {
  const int code = errno;
  const std::string why = "cannot open " + path + ": " + std::strerror(code);
  if (may_pass(code)) return io_error(why);
  const bool is_forbidden = code == EACCES || code == EPERM;
  return invalid_argument(why + (is_forbidden ? "; mend its owner or its mode" : "; mend that and start again"));
}

std::string holder_of(const std::string& lock_path) {
  std::ifstream file(lock_path);
  std::string pid;
  std::getline(file, pid);
  return pid.empty() ? "another process" : "process " + pid;
}

// Absolute, and without a slash at its end.
std::string full_path(const std::string& path) {
  std::error_code failed;
  std::string full = std::filesystem::absolute(path, failed).lexically_normal().string();
  if (full.size() > 1 && full.back() == '/') full.pop_back();
  return full;
}

// The lock goes last: a daemon that found it free before has taken the directory, which then stays.
void remove_directory(const std::string& path) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (entry.path().filename() != "lock") std::filesystem::remove_all(entry.path(), failed);
  }
  ::unlink((path + "/lock").c_str());
  ::rmdir(path.c_str());
}

}  // namespace

Result<StateDir> StateDir::open(const std::string& path) {
  std::error_code failed;
  const std::string full = full_path(path);
  std::filesystem::create_directories(std::filesystem::path(full).parent_path(), failed);
  const bool made = ::mkdir(full.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return cannot_use(full, std::strerror(errno));
  return open_in(full, made);
}

Result<StateDir> StateDir::open_temporary() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/tidepool-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return cannot_use(pattern, std::strerror(errno));
  return open_in(full_path(pattern), true);
}

Result<StateDir> StateDir::open_in(const std::string& path, bool made) {
  StateDir dir(path, made);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return cannot_use(path, std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) return cannot_use(path, "it is not a directory");
  if ((info.st_mode & 077U) != 0 && ::chmod(path.c_str(), 0700) != 0) {
    return cannot_use(path, "others may read it and its mode cannot be changed");
  }
  TP_TRY(dir.lock());
  return dir;
}

Status StateDir::lock() {
  const std::string lock_path = file("lock");
  lock_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) return cannot_use(path_, std::strerror(errno));
  // Open-file-description locks: they end with this process and no copy of the descriptor survives exec.
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(lock_, F_OFD_SETLK, &whole) != 0) {
    made_ = false;  // another has taken it in between
    return conflict("the state directory " + path_ + " belongs to a running schedulerd (" + holder_of(lock_path) +
                    "); stop it first or choose another directory with --state-dir");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return cannot_use(path_, std::strerror(errno));
  }
  return ok_status();
}

StateDir::StateDir(StateDir&& other) noexcept
    : path_(std::move(other.path_)), made_(std::exchange(other.made_, false)), lock_(std::exchange(other.lock_, -1)) {}

StateDir::~StateDir() {
  if (made_) remove_directory(path_);
  if (lock_ >= 0) ::close(lock_);
}

std::optional<StateRoom> StateDir::room() const {
  struct statvfs disk{};
  if (::statvfs(path_.c_str(), &disk) != 0) return std::nullopt;
  StateRoom room{.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize};
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    struct stat info{};
    if (::stat(file(name).c_str(), &info) == 0) room.journal_bytes += static_cast<std::uint64_t>(info.st_size);
  }
  return room;
}

// SQLite gives the files beside a database the mode of the database.
Status StateDir::keep_private(const std::string& name) const {
  const std::string path = file(name);
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made < 0) return cannot_open(path);
  ::close(made);
  for (const char* beside : {"", "-wal", "-shm"}) {
    if (::chmod((path + beside).c_str(), 0600) != 0 && errno != ENOENT) {
      return io_error("cannot change the mode of " + path + beside + ": " + std::strerror(errno));
    }
  }
  return ok_status();
}

Status StateDir::has_journal() const {
  const std::string path = file("journal.db");
  struct stat found{};
  const bool is_there = ::stat(path.c_str(), &found) == 0;
  if ((is_there && found.st_size > 0) || ::access(file("cluster.id").c_str(), F_OK) != 0) return ok_status();
  return conflict(
      path + (is_there ? " is empty" : " is missing") +
      ", and cluster.id beside it shows that there was one: agents would end all workers, which "
      "an empty journal does not know; bring the file back from a backup, or, to begin anew, choose another "
      "--state-dir");
}

Result<std::string> StateDir::agent_token() const {
  const std::string path = file("agent.token");
  if (::access(path.c_str(), F_OK) != 0) TP_TRY(write_secret_file(path, random_hex(24)));
  return read_secret_file(path);
}

Status StateDir::has_cluster_id() const {
  const std::string path = file("cluster.id");
  if (::access(path.c_str(), F_OK) == 0) return ok_status();
  return conflict(path +
                  " is missing, and the journal beside it has been used: with another identity agents and providers of "
                  "nodes would take this daemon for another one; bring the file back from a backup");
}

Status StateDir::has_authority() const {
  const std::string path = file("tls");
  if (::access(path.c_str(), F_OK) == 0) return ok_status();
  return conflict(path +
                  " is missing, and nodes have joined by certificates of the authority in it: with another one all of "
                  "them would be refused and have to join anew; bring it back from a backup, or, to have a new one "
                  "made, leave an empty folder in its place: mkdir " +
                  path);
}

Result<std::string> StateDir::cluster_id() const {
  const std::string path = file("cluster.id");
  if (::access(path.c_str(), F_OK) != 0) TP_TRY(write_secret_file(path, "c-" + random_hex(8)));
  return read_secret_file(path);
}

}  // namespace tidepool::live
