#include "workers/runtime/replica_state.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/checkpoint/checkpoint_file.hpp"

namespace tidepool::runtime {
void ReplicaState::add(std::string name, std::span<std::byte> memory) {
  pieces_.push_back({std::move(name), memory});
}

void ReplicaState::require_same(std::string name, std::uint64_t number) {
  required_.mix(name).mix(number);
}

std::int64_t ReplicaState::bytes() const {
  std::size_t total = 0;
  for (const Piece& piece : pieces_) total += piece.memory.size();
  return static_cast<std::int64_t>(total);
}

std::uint64_t ReplicaState::layout() const {
  Digest digest;
  for (const Piece& piece : pieces_) digest.mix(piece.name).mix(piece.memory.size());
  digest.mix(required_.value());
  return digest.value();
}

std::uint64_t ReplicaState::content() const {
  Digest digest;
  for (const Piece& piece : pieces_) digest.mix(checksum_of(piece.memory));
  return digest.value();
}

void ReplicaState::copy_to(std::span<std::byte> target) const {
  TP_CHECK(std::cmp_equal(target.size(), bytes()), "a copy has room for the whole state");
  for (const Piece& piece : pieces_) {
    std::ranges::copy(piece.memory, target.begin());
    target = target.subspan(piece.memory.size());
  }
}

void ReplicaState::adopt(std::span<const std::byte> source) {
  TP_CHECK(std::cmp_equal(source.size(), bytes()), "a whole state is adopted");
  for (const Piece& piece : pieces_) {
    std::ranges::copy(source.first(piece.memory.size()), piece.memory.begin());
    source = source.subspan(piece.memory.size());
  }
}

}  // namespace tidepool::runtime
