// Everything a joining worker must receive to become a replica: named pieces of the program's memory (parameters,
// optimizer state, random state), in ordinary memory or on the GPU. All ranks register the same names and sizes in the
// same order; the location of a piece may differ between ranks.
//
// Safe rule: a reader of GPU memory first waits for the training thread's last settle().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "base/result.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/nccl/gpu.hpp"

namespace tidepool::runtime {

class ReplicaState {
 public:
  // `memory` must stay valid and in place for the life of the session.
  void add(std::string name, std::span<std::byte> memory, Memory lies = Memory::kHost);
  // Call before the first piece in GPU memory is added.
  void use(std::shared_ptr<Gpu> gpu) { gpu_ = std::move(gpu); }
  // Marks the state of a step as complete once the work that the program has enqueued on its stream so far is done.
  [[nodiscard]] Status settle();
  // Adds a number that must be equal on all replicas, such as the number of samples.
  void require_same(std::string name, std::uint64_t number);

  [[nodiscard]] std::int64_t bytes() const;
  // Fingerprint of names, sizes and required numbers. If it differs between ranks, they do not run the same program.
  [[nodiscard]] std::uint64_t layout() const;
  // What layout() is made of: each required number, and a fingerprint of the pieces' names and sizes.
  struct Part {
    std::string name;
    std::uint64_t number = 0;
  };
  [[nodiscard]] std::vector<Part> layout_parts() const;
  // Fingerprint of the contents, to show that replicas are equal; 0 if the GPU memory cannot be read.
  [[nodiscard]] std::uint64_t content() const;

  struct Piece {
    std::string name;
    std::span<std::byte> memory;
    Memory lies = Memory::kHost;
  };
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }

  // Bytes of registered memory, for reading: in place, or as a copy in `room`, which grows as needed.
  [[nodiscard]] Result<std::span<const std::byte>> view(std::span<const std::byte> memory, Memory lies,
                                                        std::vector<std::byte>& room) const;
  // Waits until registered GPU memory is final; any stream may read it then.
  [[nodiscard]] Status await_final() const;

  // All pieces one after the other; exactly bytes() of them.
  [[nodiscard]] Status copy_to(std::span<std::byte> target) const;
  [[nodiscard]] Status adopt(std::span<const std::byte> source);

 private:
  std::shared_ptr<Gpu> gpu_;
  cuda::Event final_ = nullptr;  // recorded by settle()
  std::vector<Piece> pieces_;
  std::vector<Part> required_;
};

}  // namespace tidepool::runtime
