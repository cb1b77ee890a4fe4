// Everything a newcomer must receive to become a replica: named pieces of the program's memory
// (parameters, optimizer state, random state). All ranks register the same names and sizes, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"

namespace tidepool::runtime {

class ReplicaState {
 public:
  // `memory` must stay valid and in place for the life of the session.
  void add(std::string name, std::span<std::byte> memory);
  // A number that replicas must have in common, such as how many samples there are.
  void require_same(std::string name, std::uint64_t number);

  [[nodiscard]] std::int64_t bytes() const;
  // Fingerprint of names, sizes and required numbers: equal on all ranks, or they do not run the same program.
  [[nodiscard]] std::uint64_t layout() const;
  // Fingerprint of the contents, to show that replicas are equal.
  [[nodiscard]] std::uint64_t content() const;

  struct Piece {
    std::string name;
    std::span<std::byte> memory;
  };
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }

  // All pieces one after the other; exactly bytes() of them.
  void copy_to(std::span<std::byte> target) const;
  void adopt(std::span<const std::byte> source);

 private:
  std::vector<Piece> pieces_;
  Digest required_;
};

}  // namespace tidepool::runtime
