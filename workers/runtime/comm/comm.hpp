// The collective operations of one generation. Only one thread at a time may use it; only abort() may be called from
// another. After its first error a Comm can no longer be used: drop it, then build the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace tidepool::runtime {

// Where a buffer is: in ordinary memory, or on the GPU that this process computes on.
enum class Memory { kHost, kDevice };

// Numbers to be summed.
struct FloatBuffer {
  std::span<float> values;
  Memory memory = Memory::kHost;
  // For device memory: a CUDA event after which it is final; null: it is final now, and no kernel may still write it.
  void* ready = nullptr;
};

class Comm {
 public:
  Comm() = default;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  virtual ~Comm() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // In place: every rank ends with the same bytes, the sum over the ranks.
  [[nodiscard]] virtual Status allreduce(std::span<float> values) = 0;

  // The same for several buffers, with the same lengths in the same order on every rank; their locations may differ. A
  // Comm without GPU support refuses device memory.
  [[nodiscard]] virtual Status allreduce_parts(std::span<const FloatBuffer> parts);

  // Overwrites `bytes` on every rank with the bytes of `root`; all ranks pass the same length.
  [[nodiscard]] virtual Status broadcast(std::span<std::byte> bytes, int root) = 0;

  // Whether allreduce_parts() sums device memory and broadcast_device() sends device memory.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  // broadcast() for the root if its bytes are on the GPU and final there; the other ranks call broadcast().
  [[nodiscard]] virtual Status broadcast_device(std::span<const std::byte> bytes);

  // The numbers of all ranks, rank by rank; all ranks pass the same count.
  [[nodiscard]] virtual Result<std::vector<std::int64_t>> allgather(std::span<const std::int64_t> mine) = 0;

  // Call before a planned drop: returns once every rank has finished its earlier operations or has disconnected, or
  // after a few seconds. Without it, closing early could cut off a rank that still reads.
  virtual void settle() = 0;

  // Makes a blocked operation and every later one fail at once, here and at the peers. Any thread.
  virtual void abort() noexcept = 0;
};

// The Comm of a single worker: nothing to exchange.
[[nodiscard]] std::unique_ptr<Comm> make_solo_comm();

}  // namespace tidepool::runtime
