// Everything a newcomer must receive to become a replica: named pieces of the program's memory
// (parameters, optimizer state, random state). All ranks register the same names and sizes, in order.
//
// A receiver changes nothing of its own until the last byte has come: a death in the middle of a
// handover must not cost the state that the receiver still has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/runtime/comm.hpp"

namespace tidepool::runtime {

class ReplicaState {
 public:
  // `memory` must stay valid and in place for the life of the session.
  void add(std::string name, std::span<std::byte> memory);

  [[nodiscard]] std::int64_t bytes() const;
  // Fingerprint of names and sizes: equal on all ranks, or they do not run the same program.
  [[nodiscard]] std::uint64_t layout() const;
  // Fingerprint of the contents, to show that replicas are equal.
  [[nodiscard]] std::uint64_t content() const;

  // Gives the state of rank `root` to all; a rank that `receives` ends with it, the others keep theirs.
  [[nodiscard]] Status hand_over(Comm& comm, int root, bool receives);

 private:
  struct Piece {
    std::string name;
    std::span<std::byte> memory;
  };
  std::vector<Piece> pieces_;
};

}  // namespace tidepool::runtime
