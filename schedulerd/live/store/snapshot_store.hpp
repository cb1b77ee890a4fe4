// Snapshots of the state in the journal's database, in rows (core/codec/state_rows.hpp): one begun at a row of the
// journal takes the state as it was there, and writes what has changed since the one before, a piece with each batch.
// It counts once its head is there; until then the one before does, so a crash at any moment leaves a whole one.
// Several are kept at a time and share the rows that did not change between them: each snapshot sees the newest version
// of a row that is not newer than itself.
//
// Everything is written on the journal's connection, within its batches, on its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/codec/state_rows.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

struct SnapshotHead {
  std::uint64_t seq = 0;  // newest row of the journal that it contains
  Instant at;             // of the state
};

// Of the snapshots that are kept, the newest first. Reads only.
[[nodiscard]] Result<std::vector<SnapshotHead>> snapshot_heads(Database& database);
// The state of the snapshot; none = it is damaged. One that another version wrote is an error.
[[nodiscard]] Result<std::optional<core::ClusterState>> read_snapshot(Database& database, std::uint64_t seq);

class SnapshotStore {
 public:
  [[nodiscard]] Status prepare(Database& database);

  // The newest whole one; 0 = there is none.
  [[nodiscard]] std::uint64_t newest() const { return heads_.empty() ? 0 : heads_.front().seq; }
  // The journal's rows up to here are in every one that is kept.
  [[nodiscard]] std::uint64_t oldest() const { return heads_.empty() ? 0 : heads_.back().seq; }

  // Of those that are kept, the newest first.
  [[nodiscard]] const std::vector<SnapshotHead>& heads() const { return heads_; }

  // Rows that the newest one had to look at, since they might have changed; 0 = it was there before the store.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

  // The one that the journal was taken up with, and its state, which the next one is compared with; 0 and an empty
  // state = none. Newer ones are damaged or were never finished, and go. Requires: a batch is open.
  [[nodiscard]] Status go_on_from(std::uint64_t seq, const core::ClusterState& state);

  [[nodiscard]] bool under_way() const { return taken_.has_value(); }
  // Takes the state as it is after this row, newer than newest(). Requires: none is under way.
  void begin(std::uint64_t seq, const core::ClusterState& state);
  // Up to so many rows more; with the last of them the snapshot is whole. Requires: one is under way, a batch is open.
  [[nodiscard]] Status write(std::size_t rows);

  // Keeps the two newest, those that lie so far apart from one another, and of those before `keep_since` the newest.
  // Requires: a batch is open.
  [[nodiscard]] Status drop_heads(Instant keep_since, Duration apart);
  // Looks at up to so many keys that are gone, and drops what no kept snapshot sees of them; whether there may be
  // others. Requires: a batch is open.
  [[nodiscard]] Result<bool> drop_gone(int rows);

 private:
  struct Taken {
    std::uint64_t seq = 0;
    core::ClusterState state;
    std::vector<core::RowKey> rows;
    std::size_t next = 0;  // to be written
  };
  // A row that says that its key is gone.
  struct GoneRow {
    std::int64_t seq = 0;
    std::int64_t row = 0;
  };
  [[nodiscard]] Status write_row(core::RowKey key);
  [[nodiscard]] Status finish();

  std::vector<SnapshotHead> heads_;  // newest first
  core::ClusterState base_;          // of the newest one
  std::optional<Taken> taken_;
  // Rows that the newest one sees, or is going to see, and the sum of their digests.
  std::uint64_t live_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t looked_at_ = 0;
  GoneRow gone_until_;  // looked at since a snapshot that lies farther back was dropped
  Statement add_row_, newest_version_, drop_hidden_, add_head_, drop_head_, find_gone_, drop_gone_;
  Statement drop_newer_rows_, drop_newer_heads_, sum_of_head_;
};

}  // namespace tidepool::live
