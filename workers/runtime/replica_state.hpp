// Everything a joining worker must receive to become a replica: named pieces of the program's memory
// (parameters, optimizer state, random state), in ordinary memory or on the GPU. All ranks register the same names and
// sizes, in order; where they lie may differ.
//
// Safe rule: what reads memory of the GPU waits for the last settle() of the thread that trains.
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
  // Before the first piece that lies there.
  void use(std::shared_ptr<Gpu> gpu) { gpu_ = std::move(gpu); }
  // What the program has enqueued so far on its stream completes the state of a step.
  [[nodiscard]] Status settle();
  // A number that replicas must have in common, such as how many samples there are.
  void require_same(std::string name, std::uint64_t number);

  [[nodiscard]] std::int64_t bytes() const;
  // Fingerprint of names, sizes and required numbers: equal on all ranks, or they do not run the same program.
  [[nodiscard]] std::uint64_t layout() const;
  // What layout() is made of: each required number, and a fingerprint of the pieces' names and sizes.
  struct Part {
    std::string name;
    std::uint64_t number = 0;
  };
  [[nodiscard]] std::vector<Part> layout_parts() const;
  // Fingerprint of the contents, to show that replicas are equal; 0 if the GPU does not give them.
  [[nodiscard]] std::uint64_t content() const;

  struct Piece {
    std::string name;
    std::span<std::byte> memory;
    Memory lies = Memory::kHost;
  };
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }

  // Bytes of registered memory, for reading: where they lie, or a copy of them in `room`, which grows as needed.
  [[nodiscard]] Result<std::span<const std::byte>> view(std::span<const std::byte> memory, Memory lies,
                                                        std::vector<std::byte>& room) const;
  // Waits until registered memory of the GPU is final: it may then be read by any stream.
  [[nodiscard]] Status await_final() const;

  // All pieces one after the other; exactly bytes() of them.
  [[nodiscard]] Status copy_to(std::span<std::byte> target) const;
  [[nodiscard]] Status adopt(std::span<const std::byte> source);

 private:
  std::shared_ptr<Gpu> gpu_;
  cuda::Event final_ = nullptr;  // of settle()
  std::vector<Piece> pieces_;
  std::vector<Part> required_;
};

}  // namespace tidepool::runtime
