#include "workers/agent/system/state_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

Error errno_error(const std::string& attempt) {
  const int error = errno;
  return io_error("cannot " + attempt + ": " + std::generic_category().message(error));
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("write to the state directory");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return ok_status();
}

namespace {

Status put_in_place(const UniqueFd& file, const std::string& temporary, const std::filesystem::path& path,
                    std::string_view text) {
  TP_TRY(write_all(file.get(), text));
  if (::fdatasync(file.get()) != 0) return errno_error("flush " + temporary);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return errno_error("replace " + path.string());
  return ok_status();
}

}  // namespace

// Other processes may replace the same file, so each writes to a temporary file of its own.
Status replace_file(const std::filesystem::path& path, std::string_view text) {
  std::string temporary = path.string() + ".XXXXXX";
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return errno_error("create " + temporary);
  if (const Status put = put_in_place(file, temporary, path, text); !put.ok()) {
    ::unlink(temporary.c_str());
    return put;
  }
  const UniqueFd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return errno_error("flush " + path.parent_path().string());
  return ok_status();
}

// FNV-1a.
std::string folder_key(const std::filesystem::path& folder) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : folder.string()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

Status make_private_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("create the folder " + path.string());
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return errno_error("look at " + path.string());
  if (!S_ISDIR(info.st_mode)) return io_error(path.string() + " is not a folder; remove it or choose another one");
  if (info.st_uid != ::geteuid() || (info.st_mode & S_IWOTH) != 0) {
    return io_error("the folder " + path.string() +
                    " belongs to another user or can be written by everybody; chmod 700 it or choose another one");
  }
  return ok_status();
}

Status empty_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return make_private_folder(path);
}

}  // namespace tidepool::agent
