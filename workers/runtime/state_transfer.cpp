#include "workers/runtime/state_transfer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "workers/runtime/checkpoint/checkpoint_file.hpp"
#include "workers/runtime/comm/clock.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kBlockBytes = 256U << 10U;
constexpr std::size_t kGatherBytes = 1U << 20U;  // small pieces collected into one send
constexpr std::size_t kAheadBytes = 4U << 20U;   // per send ahead of the switch
constexpr std::size_t kBucketBytes = 8U << 20U;  // per send at the switch; a death is noticed between two sends
constexpr Millis kStepMax{60'000};               // if a step takes longer, nothing is sent ahead

}  // namespace

void StateTransfer::lay_out() {
  if (!blocks_.empty()) return;
  std::size_t offset = 0;
  std::size_t number = 0;
  for (const ReplicaState::Piece& piece : replica_.pieces()) {
    for (std::size_t begin = 0; begin < piece.memory.size(); begin += kBlockBytes) {
      const std::size_t length = std::min(kBlockBytes, piece.memory.size() - begin);
      blocks_.push_back({.memory = piece.memory.subspan(begin, length),
                         .lies = piece.lies,
                         .piece = number,
                         .offset = offset + begin});
    }
    offset += piece.memory.size();
    ++number;
  }
}

Result<std::uint64_t> StateTransfer::hash_of(const Block& block) {
  const auto bytes = replica_.view(block.memory, block.lies, seen_);
  if (!bytes.ok()) return bytes.error();
  return checksum_of(*bytes);
}

// Empty: the memory never came to rest, or the GPU memory could not be read.
std::vector<std::uint64_t> StateTransfer::hashes() {
  std::vector<std::uint64_t> values;
  values.reserve(blocks_.size());
  for (const Block& block : blocks_) {
    Result<std::uint64_t> hash = std::uint64_t{0};
    if (!gate_.at_rest([&] { hash = hash_of(block); }) || !hash.ok()) return {};
    values.push_back(*hash);
  }
  return values;
}

StateTransfer::Marks StateTransfer::still_blocks() {
  Marks still(blocks_.size(), 0);
  const auto before = hashes();
  if (!gate_.wait_commit(kStepMax)) return still;
  const auto after = hashes();
  if (before.size() != still.size() || after.size() != still.size()) return still;
  for (std::size_t i = 0; i < still.size(); ++i) still[i] = before[i] == after[i] ? 1 : 0;
  return still;
}

// Calls `send(first, last, bytes)` for runs of marked blocks. The sizes of the blocks alone determine the runs, because
// their locations differ between ranks.
template <class Send>
Status StateTransfer::for_each_run(const Marks& marks, std::size_t bytes_max, Send send) {
  for (std::size_t first = 0; first < blocks_.size();) {
    if (marks[first] == 0) {
      ++first;
      continue;
    }
    std::size_t last = first;
    std::size_t bytes = blocks_[first].memory.size();
    const auto goes_on = [&](std::size_t next) {
      if (next >= blocks_.size() || marks[next] == 0) return false;
      const std::size_t most = blocks_[next].piece == blocks_[first].piece ? bytes_max : kGatherBytes;
      return bytes + blocks_[next].memory.size() <= most;
    };
    while (goes_on(last + 1)) bytes += blocks_[++last].memory.size();
    TP_TRY(send(first, last, bytes));
    first = last + 1;
  }
  return ok_status();
}

Status StateTransfer::gather(std::size_t first, std::size_t last, std::span<std::byte> target) {
  for (std::size_t i = first; i <= last; ++i) {
    const auto bytes = replica_.view(blocks_[i].memory, blocks_[i].lies, seen_);
    if (!bytes.ok()) return bytes.error();
    std::ranges::copy(*bytes, target.begin());
    target = target.subspan(bytes->size());
  }
  return ok_status();
}

// Where a rank that does not send puts the received bytes.
std::span<std::byte> StateTransfer::target_of(std::size_t offset, std::size_t bytes, bool receives) {
  if (receives) return std::span(staging_).subspan(offset, bytes);
  bucket_.resize(std::max(bucket_.size(), bytes));
  return std::span(bucket_).first(bytes);
}

Status StateTransfer::send_ahead(Comm& comm, Role mine) {
  lay_out();
  ahead_comm_ = nullptr;
  enum Word : std::size_t { kHolds, kStandsStill, kBytes, kAheadWords };
  std::array<std::int64_t, kAheadWords> line{};
  line[kHolds] = mine.has_state ? 1 : 0;
  line[kStandsStill] = mine.has_state && !mine.trains ? 1 : 0;
  line[kBytes] = replica_.bytes();
  const auto all = comm.allgather(line);
  if (!all.ok()) return all.error();
  had_state_.clear();
  bool useful = true;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(comm.size()); ++rank) {
    const std::int64_t* words = all->data() + rank * kAheadWords;
    had_state_.push_back(words[kHolds] != 0);
    // The handover reports different sizes.
    useful = useful && words[kStandsStill] == 0 && words[kBytes] == line[kBytes];
  }
  const auto holder = std::find(had_state_.begin(), had_state_.end(), true);
  const bool all_have = std::find(had_state_.begin(), had_state_.end(), false) == had_state_.end();
  if (!useful || holder == had_state_.end() || all_have || line[kBytes] < options_.ahead_min_bytes) return ok_status();
  const int root = static_cast<int>(holder - had_state_.begin());
  if (!mine.has_state) staging_.resize(static_cast<std::size_t>(replica_.bytes()));  // touches its pages now
  ahead_ = comm.rank() == root ? still_blocks() : Marks(blocks_.size());
  TP_TRY(comm.broadcast(std::as_writable_bytes(std::span(ahead_)), root));
  TP_TRY(send_still_blocks(comm, root));
  ahead_comm_ = &comm;
  ahead_root_ = root;
  return ok_status();
}

Status StateTransfer::send_still_blocks(Comm& comm, int root) {
  const bool sends = comm.rank() == root;
  const bool receives = !had_state_[static_cast<std::size_t>(comm.rank())];
  sent_.assign(blocks_.size(), 0);
  return for_each_run(ahead_, kAheadBytes, [&](std::size_t first, std::size_t last, std::size_t bytes) -> Status {
    const std::span<std::byte> target = target_of(blocks_[first].offset, bytes, receives);
    if (sends) {
      Status copied = ok_status();
      const bool rested = gate_.at_rest([&] { copied = gather(first, last, target); });
      if (!rested) return Error{ErrorCode::kUnavailable, "a newer generation came"};
      TP_TRY(copied);
      for (std::size_t i = first, at = 0; i <= last; at += blocks_[i++].memory.size()) {
        sent_[i] = checksum_of(target.subspan(at, blocks_[i].memory.size()));
      }
    }
    const TimePoint begin = Clock::now();
    TP_TRY(comm.broadcast(target, root));
    const double busy_ms = millis_between(begin, Clock::now());
    if (sends) gate_.pause(Millis{static_cast<std::int64_t>(busy_ms * (1 / options_.ahead_share - 1))});
    return ok_status();
  });
}

// A rank that already had a state received nothing of what was sent ahead.
bool StateTransfer::ahead_counts(const Comm& comm, int root, const std::vector<bool>& lacks) const {
  if (ahead_comm_ != &comm || ahead_root_ != root) return false;
  for (std::size_t rank = 0; rank < lacks.size(); ++rank) {
    if (lacks[rank] && had_state_[rank]) return false;
  }
  return true;
}

Status StateTransfer::agree_on_changes(Comm& comm, int root, Marks& due) {
  if (comm.rank() == root) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (ahead_[i] == 0) continue;
      const auto hash = hash_of(blocks_[i]);
      if (!hash.ok()) return hash.error();
      due[i] = *hash == sent_[i] ? 0 : 1;
    }
  }
  return comm.broadcast(std::as_writable_bytes(std::span(due)), root);
}

// Sends directly from the registered memory if the run is one piece that the communicator can read.
Status StateTransfer::send_run(Comm& comm, std::size_t first, std::size_t last, std::size_t bytes) {
  const Block& block = blocks_[first];
  if (block.piece == blocks_[last].piece && block.lies == Memory::kHost) {
    return comm.broadcast({block.memory.data(), bytes}, comm.rank());
  }
  if (block.piece == blocks_[last].piece && comm.takes_device_memory()) {
    TP_TRY(replica_.await_final());
    return comm.broadcast_device({block.memory.data(), bytes});
  }
  const std::span<std::byte> copy = target_of(block.offset, bytes, false);
  TP_TRY(gather(first, last, copy));
  return comm.broadcast(copy, comm.rank());
}

Result<std::int64_t> StateTransfer::send_rest(Comm& comm, int root, const std::vector<bool>& lacks) {
  lay_out();
  const bool sends = comm.rank() == root;
  const bool receives = lacks[static_cast<std::size_t>(comm.rank())];
  Marks due(blocks_.size(), 1);
  if (ahead_counts(comm, root, lacks)) TP_TRY(agree_on_changes(comm, root, due));
  ahead_comm_ = nullptr;
  if (receives) staging_.resize(static_cast<std::size_t>(replica_.bytes()));
  std::int64_t moved = 0;
  const auto send = [&](std::size_t first, std::size_t last, std::size_t bytes) -> Status {
    moved += static_cast<std::int64_t>(bytes);
    if (sends) return send_run(comm, first, last, bytes);
    return comm.broadcast(target_of(blocks_[first].offset, bytes, receives), root);
  };
  TP_TRY(for_each_run(due, kBucketBytes, send));
  if (receives) TP_TRY(replica_.adopt(staging_));
  staging_ = {};
  bucket_ = {};
  seen_ = {};
  return moved;
}

}  // namespace tidepool::runtime
