// Two slots of pinned host memory, each with device memory of the same length, and the stream that moves bytes between
// them: while one slot is summed, the other is filled.
//
// Only one thread at a time creates, uses or destroys it. The destructor waits for the stream, so anything that could
// keep the stream busy for ever (a collective) must have been stopped before.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "workers/runtime/nccl/cuda_library.hpp"

namespace tidepool::runtime {

class DeviceStaging {
 public:
  // `bytes` is the size of each slot. Makes the first GPU the calling thread's GPU.
  [[nodiscard]] static Result<std::unique_ptr<DeviceStaging>> create(std::shared_ptr<const CudaLibrary> cuda,
                                                                     std::size_t bytes);
  ~DeviceStaging();
  DeviceStaging(const DeviceStaging&) = delete;
  DeviceStaging& operator=(const DeviceStaging&) = delete;

  static constexpr std::size_t kSlots = 2;
  [[nodiscard]] std::size_t slot_bytes() const { return bytes_; }
  [[nodiscard]] cuda::Stream stream() const { return stream_; }
  [[nodiscard]] std::byte* device(std::size_t slot) const { return slots_[slot].device; }

  // Enqueues a copy of `bytes` from the host into the slot's device memory from `offset` on.
  [[nodiscard]] Status upload(std::size_t slot, std::span<const std::byte> bytes, std::size_t offset = 0);
  // Enqueues a copy of the slot's first `length` bytes back into its pinned memory.
  [[nodiscard]] Status fetch(std::size_t slot, std::size_t length);
  // Enqueues a mark: done() of the slot is kSuccess once everything enqueued before the mark is complete.
  [[nodiscard]] Status mark(std::size_t slot);
  // cuda::kSuccess, cuda::kNotReady or an error.
  [[nodiscard]] int done(std::size_t slot) const { return cuda_->event_query(slots_[slot].event); }
  // The bytes that fetch() has copied. Requires: done.
  [[nodiscard]] std::span<const std::byte> fetched(std::size_t slot) const { return {slots_[slot].host, bytes_}; }

 private:
  struct Slot {
    std::byte* host = nullptr;
    std::byte* device = nullptr;
    cuda::Event event = nullptr;
  };

  DeviceStaging(std::shared_ptr<const CudaLibrary> cuda, std::size_t bytes) : cuda_(std::move(cuda)), bytes_(bytes) {}
  [[nodiscard]] Status allocate();

  std::shared_ptr<const CudaLibrary> cuda_;
  std::size_t bytes_;
  cuda::Stream stream_ = nullptr;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace tidepool::runtime
