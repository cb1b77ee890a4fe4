// The collective operations of one generation. Used by one thread at a time; only abort() may come
// from another. After the first error a Comm is of no more use: drop it, then build the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace tidepool::runtime {

// Where a buffer lies: in ordinary memory, or on the GPU that this process computes on.
enum class Memory { kHost, kDevice };

// Numbers to be summed.
struct FloatBuffer {
  std::span<float> values;
  Memory memory = Memory::kHost;
  // Of device memory: a CUDA event after which it is final; none: it is final now, and no kernel may still write it.
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

  // The same for several buffers: the same lengths in the same order on every rank, wherever they lie. Unless a Comm
  // knows the GPU, it refuses device memory.
  [[nodiscard]] virtual Status allreduce_parts(std::span<const FloatBuffer> parts);

  // Overwrites `bytes` everywhere with those of `root`; all ranks pass the same length.
  [[nodiscard]] virtual Status broadcast(std::span<std::byte> bytes, int root) = 0;

  // Whether allreduce_parts() sums device memory and broadcast_device() sends it.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  // broadcast() at its root, whose bytes lie on the GPU and are final there; the others call broadcast().
  [[nodiscard]] virtual Status broadcast_device(std::span<const std::byte> bytes);

  // The numbers of all, rank by rank; all ranks pass the same count.
  [[nodiscard]] virtual Result<std::vector<std::int64_t>> allgather(std::span<const std::int64_t> mine) = 0;

  // Called before a planned drop: returns once every rank has finished its earlier operations, or has
  // gone, or after a few seconds. Without it, closing early could cut off a rank that still reads.
  virtual void settle() = 0;

  // Makes a blocked and every later operation fail at once, here and at the peers. Any thread.
  virtual void abort() noexcept = 0;
};

// The Comm of a single worker: nothing to exchange.
[[nodiscard]] std::unique_ptr<Comm> make_solo_comm();

}  // namespace tidepool::runtime
