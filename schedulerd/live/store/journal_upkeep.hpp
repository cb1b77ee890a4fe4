// The upkeep of a journal: snapshots, so that a restart replays few rows, and the removal of old rows, so that the file
// stays small.
//
// Rule: each batch carries a piece of it, small enough that no answer waits for more than that. With many changes
// snapshots are farther apart, by the cost of the newest one. Everything happens within the journal's batches, on its
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

  // Of the journal as written so far.
  struct Position {
    std::uint64_t last_seq = 0;
    std::uint64_t own_decision = 0;  // is kept at any age; 0 = none
    const core::ClusterState& state;
    const StoredClock& clock;
  };
  // Whether a snapshot is due, or old rows can be removed.
  [[nodiscard]] bool is_due(std::uint64_t last_seq) const;
  // Writes a piece. In addition to `added` rows of its own the batch takes a few of a snapshot, and many if it has
  // nothing else to write.
  struct Batch {
    bool idle = false;
    std::size_t added = 0;
  };
  [[nodiscard]] Status add(const Position& at, const Batch& batch);
  // Writes all of it, and a snapshot whether it is due or not.
  [[nodiscard]] Status finish(const Position& at);

 private:
  [[nodiscard]] bool snapshot_due(std::uint64_t last_seq) const;
  [[nodiscard]] Status sweep(const Position& at);

  JournalOptions options_;
  SnapshotStore snapshots_;
  Retention past_;
  SizeLimit size_;
  bool sweeps_ = true;  // old rows may have to be removed
};

}  // namespace tidepool::live
