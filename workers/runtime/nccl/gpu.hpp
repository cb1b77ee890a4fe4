// The GPU whose memory a program has lent to its session. It sets marks on the program's stream, so that nothing is
// read while it is still being computed, and copies to and from ordinary memory through pinned memory.
//
// Safe rule: a copy waits for the mark that is passed to it and returns when it is complete. Work that a program
// enqueues on any stream after that sees the copied data.
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
  // Loads the CUDA runtime and allocates pinned memory; an error says why no GPU can be used.
  [[nodiscard]] static Result<std::shared_ptr<Gpu>> open();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // kInvalidArgument unless `memory` is on this GPU; `what` names it in the error.
  [[nodiscard]] Status check_place(std::span<const std::byte> memory, const std::string& what) const;

  // --- the training thread ---
  // Sets the cudaStream_t that the program uses from now on; null: CUDA's default stream.
  void use_stream(void* stream) { stream_ = static_cast<cuda::Stream>(stream); }
  // Mark `slot` is reached once all work that the program's stream contains now is done. A slot can be marked again
  // only when no copy waits for it.
  [[nodiscard]] Result<cuda::Event> mark(std::size_t slot);

  // --- any thread ---
  // Blocks until the mark is reached; null: returns at once.
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

  // Two pieces of pinned memory: the GPU fills or empties one while the CPU works on the other.
  struct Piece {
    std::byte* host = nullptr;
    cuda::Event done = nullptr;
  };
  std::mutex copying_;  // guards the members below
  cuda::Stream copies_ = nullptr;
  std::array<Piece, 2> pieces_{};
};

}  // namespace tidepool::runtime
