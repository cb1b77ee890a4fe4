// Memory shared with an untrusted process: its size is sealed, and the other side can map a region for reading only as
// read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool::policies::host {

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return fd_; }
  void close();

 private:
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  int fd_ = -1;
};

class SharedMemory {
 public:
  enum class Other { kMayWrite, kMayOnlyRead };

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  // Zeroes; pages cost nothing until they are touched.
  [[nodiscard]] static Result<SharedMemory> make(std::uint64_t bytes, Other other);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// A file in memory that holds `bytes` and can never change.
[[nodiscard]] Result<Descriptor> make_sealed_file(std::string_view bytes);

}  // namespace tidepool::policies::host
