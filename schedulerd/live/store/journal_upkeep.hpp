// The upkeep of a journal: snapshots, so that a restart replays few rows, and the past, so that the file stays small.
//
// Rule: a piece of it goes with a batch, small enough that no answer waits for more than that. Where much changes
// snapshots lie farther apart, by what the newest one cost. Everything happens within the journal's batches, on its
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "schedulerd/live/store/retention.hpp"
#include "schedulerd/live/store/snapshot_store.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class JournalUpkeep {
 public:
  explicit JournalUpkeep(const JournalOptions& options) : options_(options), size_(options.bytes_max) {}

  [[nodiscard]] Status prepare(Database& database);
  [[nodiscard]] SnapshotStore& snapshots() { return snapshots_; }

  // Of the journal so far.
  struct Position {
    std::uint64_t last_seq = 0;
    std::uint64_t own_decision = 0;  // which stays, however old; 0 = none
    const core::ClusterState& state;
    const StoredClock& clock;
  };
  // There is a snapshot to write, or something of the past to drop.
  [[nodiscard]] bool is_due(std::uint64_t last_seq) const;
  // A piece. Beside `added` rows of its own the batch takes a few of a snapshot, and many if it has nothing else to do.
  struct Batch {
    bool idle = false;
    std::size_t added = 0;
  };
  [[nodiscard]] Status add(const Position& at, const Batch& batch);
  // All of it, and a snapshot whether it is due or not.
  [[nodiscard]] Status finish(const Position& at);

 private:
  [[nodiscard]] bool snapshot_due(std::uint64_t last_seq) const;
  [[nodiscard]] Status sweep(const Position& at);

  JournalOptions options_;
  SnapshotStore snapshots_;
  Retention past_;
  SizeLimit size_;
  bool sweeps_ = true;  // there may be something of the past to drop
};

}  // namespace tidepool::live
