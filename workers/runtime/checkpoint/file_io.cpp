#include "workers/runtime/checkpoint/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tidepool::runtime {
namespace {

constexpr std::size_t kPartMax = 64U << 20U;  // one system call transfers at most 2 GiB

}  // namespace

OwnedFile::~OwnedFile() {
  if (fd_ >= 0) ::close(fd_);
}

OwnedFile::OwnedFile(OwnedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Error file_error(const std::string& attempt) {
  const int error = errno;
  return io_error("cannot " + attempt + ": " + std::generic_category().message(error));
}

Result<OwnedFile> open_for_reading(const std::filesystem::path& path) {
  OwnedFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return file_error("open " + path.string());
  return file;
}

Result<OwnedFile> create_file(const std::filesystem::path& path) {
  OwnedFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) return file_error("create " + path.string());
  return file;
}

Status write_whole(const OwnedFile& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), std::min(bytes.size(), kPartMax));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error("write the state");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return ok_status();
}

Status read_whole(const OwnedFile& file, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file.get(), bytes.data(), std::min(bytes.size(), kPartMax), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read the state");
    if (got == 0) return io_error("it is cut off");
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return ok_status();
}

Status flush_file(const OwnedFile& file) {
  if (::fsync(file.get()) != 0) return file_error("flush the state to disk");
  return ok_status();
}

Status flush_folder(const std::filesystem::path& folder) {
  const OwnedFile opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) return file_error("flush the folder " + folder.string());
  return ok_status();
}

}  // namespace tidepool::runtime
