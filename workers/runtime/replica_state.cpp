#include "workers/runtime/replica_state.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/checkpoint/checkpoint_file.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kStateMark = 0;  // the mark of the state; the gradients use those after it

Digest digest_of(std::span<const ReplicaState::Piece> pieces) {
  Digest digest;
  for (const ReplicaState::Piece& piece : pieces) digest.mix(piece.name).mix(piece.memory.size());
  return digest;
}

}  // namespace

void ReplicaState::add(std::string name, std::span<std::byte> memory, Memory lies) {
  TP_CHECK(lies == Memory::kHost || gpu_ != nullptr, "memory of a GPU comes with the GPU");
  pieces_.push_back({std::move(name), memory, lies});
}

Status ReplicaState::settle() {
  if (!gpu_) return ok_status();
  const auto mark = gpu_->mark(kStateMark);
  if (!mark.ok()) return mark.error();
  final_ = *mark;
  return ok_status();
}

Status ReplicaState::await_final() const {
  return gpu_ ? gpu_->await(final_) : ok_status();
}

Result<std::span<const std::byte>> ReplicaState::view(std::span<const std::byte> memory, Memory lies,
                                                      std::vector<std::byte>& room) const {
  if (lies == Memory::kHost) return memory;
  if (room.size() < memory.size()) room.resize(memory.size());
  const std::span<std::byte> copy = std::span(room).first(memory.size());
  TP_TRY(gpu_->read(copy, memory.data(), final_));
  return std::span<const std::byte>(copy);
}

void ReplicaState::require_same(std::string name, std::uint64_t number) {
  required_.push_back({std::move(name), number});
}

std::int64_t ReplicaState::bytes() const {
  std::size_t total = 0;
  for (const Piece& piece : pieces_) total += piece.memory.size();
  return static_cast<std::int64_t>(total);
}

std::uint64_t ReplicaState::layout() const {
  Digest digest = digest_of(pieces_);
  Digest required;
  for (const Part& part : required_) required.mix(part.name).mix(part.number);
  digest.mix(required.value());
  return digest.value();
}

std::vector<ReplicaState::Part> ReplicaState::layout_parts() const {
  std::vector<Part> parts = required_;
  parts.push_back({"registered state", digest_of(pieces_).value()});
  return parts;
}

std::uint64_t ReplicaState::content() const {
  Digest digest;
  std::vector<std::byte> room;
  for (const Piece& piece : pieces_) {
    const auto bytes = view(piece.memory, piece.lies, room);
    if (!bytes.ok()) return 0;
    digest.mix(checksum_of(*bytes));
  }
  return digest.value();
}

Status ReplicaState::copy_to(std::span<std::byte> target) const {
  TP_CHECK(std::cmp_equal(target.size(), bytes()), "a copy has room for the whole state");
  for (const Piece& piece : pieces_) {
    if (piece.lies == Memory::kHost) {
      std::ranges::copy(piece.memory, target.begin());
    } else {
      TP_TRY(gpu_->read(target.first(piece.memory.size()), piece.memory.data(), final_));
    }
    target = target.subspan(piece.memory.size());
  }
  return ok_status();
}

Status ReplicaState::adopt(std::span<const std::byte> source) {
  TP_CHECK(std::cmp_equal(source.size(), bytes()), "a whole state is adopted");
  for (const Piece& piece : pieces_) {
    const auto bytes = source.first(piece.memory.size());
    if (piece.lies == Memory::kHost) {
      std::ranges::copy(bytes, piece.memory.begin());
    } else {
      TP_TRY(gpu_->await(final_));  // the program's own initial values may not be complete yet
      TP_TRY(gpu_->write(piece.memory.data(), bytes));
    }
    source = source.subspan(piece.memory.size());
  }
  return ok_status();
}

}  // namespace tidepool::runtime
