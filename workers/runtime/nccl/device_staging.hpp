// Two slots of pinned host memory, each with device memory of the same length behind it, and the stream that moves
// bytes between them: while one slot is summed, the other is filled.
//
// Made, used and destroyed by one thread at a time. Destroying waits for the stream, so whatever could keep the stream
// busy for ever (a collective) must have been stopped before.
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
  // `bytes` of each slot. The calling thread's GPU becomes the first one.
  [[nodiscard]] static Result<std::unique_ptr<DeviceStaging>> create(std::shared_ptr<const CudaLibrary> cuda,
                                                                     std::size_t bytes);
  ~DeviceStaging();
  DeviceStaging(const DeviceStaging&) = delete;
  DeviceStaging& operator=(const DeviceStaging&) = delete;

  static constexpr std::size_t kSlots = 2;
  [[nodiscard]] std::size_t slot_bytes() const { return bytes_; }
  [[nodiscard]] cuda::Stream stream() const { return stream_; }
  [[nodiscard]] std::byte* device(std::size_t slot) const { return slots_[slot].device; }

  // Enqueues: `bytes` of the host into the slot's device memory from `offset` on.
  [[nodiscard]] Status upload(std::size_t slot, std::span<const std::byte> bytes, std::size_t offset = 0);
  // Enqueues the way back of the slot's first `length` bytes into its pinned memory.
  [[nodiscard]] Status fetch(std::size_t slot, std::size_t length);
  // Enqueues a mark: done() of the slot is kSuccess once all that was enqueued before has happened.
  [[nodiscard]] Status mark(std::size_t slot);
  // cuda::kSuccess, cuda::kNotReady or an error.
  [[nodiscard]] int done(std::size_t slot) const { return cuda_->event_query(slots_[slot].event); }
  // What fetch() has brought. Requires: done.
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
