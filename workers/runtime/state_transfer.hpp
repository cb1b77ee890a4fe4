// Sends one rank's registered memory to the ranks that lack it. Blocks that do not change are sent ahead, over the next
// communicator while the others train; the rest is sent at the switch, bucket by bucket.
//
// Hashing finds unchanged blocks: a block that did not change during a whole step is sent ahead, and sent again at the
// switch if it has changed since. Plain SGD changes every block at every step: then nothing is sent ahead, and the
// search costs two passes over the memory in the background. It pays off for frozen layers and for rows of an embedding
// that no sample uses.
//
// A receiver changes none of its own memory until the last byte has arrived: a death during the transfer must not cost
// the state that it still has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/replica_state.hpp"
#include "workers/runtime/state_gate.hpp"

namespace tidepool::runtime {

struct StateTransferOptions {
  std::int64_t ahead_min_bytes = 16 << 20;  // a smaller state is sent whole at the switch
  double ahead_share = 0.25;                // share of the time that sending ahead may use
};

class StateTransfer {
 public:
  // Both must outlive it.
  StateTransfer(ReplicaState& replica, StateGate& gate, StateTransferOptions options)
      : replica_(replica), gate_(gate), options_(options) {}

  // Every member of the next generation calls it from the building thread, once the communicator is connected.
  // `trains`: this rank has a state and keeps training meanwhile. If any rank with a state does not train, nothing is
  // sent ahead.
  struct Role {
    bool has_state = false;
    bool trains = false;
  };
  [[nodiscard]] Status send_ahead(Comm& comm, Role mine);

  // Every member calls it at the switch; `lacks`, by rank, is the same on all. Returns the bytes that each receiver got
  // in this call.
  [[nodiscard]] Result<std::int64_t> send_rest(Comm& comm, int root, const std::vector<bool>& lacks);

 private:
  struct Block {
    std::span<std::byte> memory;
    Memory lies = Memory::kHost;
    std::size_t piece = 0;
    std::size_t offset = 0;  // in the staging memory
  };
  using Marks = std::vector<std::uint8_t>;  // one per block: 1 = yes

  void lay_out();
  [[nodiscard]] Result<std::uint64_t> hash_of(const Block& block);
  [[nodiscard]] std::vector<std::uint64_t> hashes();
  [[nodiscard]] Marks still_blocks();
  [[nodiscard]] Status send_still_blocks(Comm& comm, int root);
  [[nodiscard]] bool ahead_counts(const Comm& comm, int root, const std::vector<bool>& lacks) const;
  [[nodiscard]] Status agree_on_changes(Comm& comm, int root, Marks& due);
  [[nodiscard]] Status gather(std::size_t first, std::size_t last, std::span<std::byte> target);
  [[nodiscard]] Status send_run(Comm& comm, std::size_t first, std::size_t last, std::size_t bytes);
  [[nodiscard]] std::span<std::byte> target_of(std::size_t offset, std::size_t bytes, bool receives);
  template <class Send>
  [[nodiscard]] Status for_each_run(const Marks& marks, std::size_t bytes_max, Send send);

  ReplicaState& replica_;
  StateGate& gate_;
  StateTransferOptions options_;
  std::vector<Block> blocks_;
  std::vector<std::byte> staging_;  // on a receiver: the whole state, piece after piece
  std::vector<std::byte> bucket_;   // on the other ranks: one bucket, and on the sender a copy taken at rest
  std::vector<std::byte> seen_;     // a block of the GPU's memory, to be hashed

  const Comm* ahead_comm_ = nullptr;  // the communicator on which blocks were sent ahead; never dereferenced
  int ahead_root_ = 0;
  std::vector<bool> had_state_;  // by rank, at the time of sending ahead
  Marks ahead_;
  std::vector<std::uint64_t> sent_;  // on the root: hashes of the blocks sent ahead
};

}  // namespace tidepool::runtime
