#include "policies/host/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tidepool::policies::host {
namespace {

constexpr const char* kName = "tidepool-policy";

Error failed(const char* what) {
  return io_error(std::string("memory for the policy host: ") + what + ": " + std::strerror(errno));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) (void)::close(fd_);
  fd_ = -1;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) (void)munmap(data_, bytes_);
}

Result<SharedMemory> SharedMemory::make(std::uint64_t bytes, Other other) {
  SharedMemory memory;
  memory.fd_ = Descriptor(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.fd() < 0) return failed("memfd_create");
  if (ftruncate(memory.fd(), static_cast<off_t>(bytes)) != 0) return failed("ftruncate");
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.fd(), 0);
  if (mapped == MAP_FAILED) return failed("mmap");
  memory.data_ = static_cast<std::byte*>(mapped);
  memory.bytes_ = bytes;
  // A smaller file would turn our next look at it into a crash. Our own mapping stays writable.
  const int only_read = other == Other::kMayOnlyRead ? F_SEAL_FUTURE_WRITE : 0;
  if (fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | only_read) != 0) {
    return failed("F_ADD_SEALS");
  }
  return memory;
}

Result<Descriptor> make_sealed_file(std::string_view bytes) {
  Descriptor file(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) return failed("memfd_create");
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failed("F_ADD_SEALS");
  }
  return file;
}

}  // namespace tidepool::policies::host
