// The GPU whose memory a program has lent to its session: marks on the program's stream, so that nothing is read while
// it is still being computed, and copies to and from ordinary memory through pinned memory.
//
// Safe rule: a copy waits for the mark that it is given and returns when it is complete. What a program enqueues on any
// stream after such a return finds the copy done.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/runtime/nccl/cuda_library.hpp"

namespace tidepool::runtime {

class Gpu {
 public:
  // Loads the CUDA runtime and takes pinned memory; an error says why no GPU can be used.
  [[nodiscard]] static Result<std::shared_ptr<Gpu>> open();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // kInvalidArgument unless `memory`, which is called `what`, lies on this GPU.
  [[nodiscard]] Status check_place(std::span<const std::byte> memory, const std::string& what) const;

  // --- the thread that trains ---
  // A cudaStream_t, on which the program works from now on; null: CUDA's default stream.
  void use_stream(void* stream) { stream_ = static_cast<cuda::Stream>(stream); }
  // Mark number `slot` is reached once everything that the program's stream holds now has been done. A slot is marked
  // anew only when no copy waits for it any more.
  [[nodiscard]] Result<cuda::Event> mark(std::size_t slot);

  // --- any thread ---
  // Blocks until the mark is reached; none: at once.
  [[nodiscard]] Status await(cuda::Event mark) const;
  [[nodiscard]] Status read(std::span<std::byte> host, const std::byte* device, cuda::Event after = nullptr);
  [[nodiscard]] Status write(std::byte* device, std::span<const std::byte> host);

 private:
  [[nodiscard]] Status allocate();
  [[nodiscard]] Status enqueue(void* to, const void* from, std::size_t bytes, const char* what, cuda::Event done);

  explicit Gpu(std::shared_ptr<const CudaLibrary> cuda) : cuda_(std::move(cuda)) {}

  std::shared_ptr<const CudaLibrary> cuda_;
  cuda::Stream stream_ = nullptr;
  std::vector<cuda::Event> marks_;  // by slot

  // Two pieces of pinned memory: while one is filled or emptied by the GPU, the other is by us.
  struct Piece {
    std::byte* host = nullptr;
    cuda::Event done = nullptr;
  };
  std::mutex copying_;  // of what follows
  cuda::Stream copies_ = nullptr;
  std::array<Piece, 2> pieces_{};
};

}  // namespace tidepool::runtime
