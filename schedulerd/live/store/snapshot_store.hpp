// Snapshots of the state in the journal's database, in rows (core/codec/state_rows.hpp): a snapshot takes the state as
// of one row of the journal, and writes what has changed since the previous one, a piece with each batch. It is valid
// once its head is written; until then the previous one is, so a crash at any moment leaves a complete one. Several are
// kept and share the rows that did not change between them: each snapshot sees the newest version of a row that is not
// newer than itself.
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
  std::uint64_t seq = 0;  // newest row of the journal that is in it
  Instant at;             // of the state
};

// The heads of the kept snapshots, the newest first. Reads only.
[[nodiscard]] Result<std::vector<SnapshotHead>> snapshot_heads(Database& database);
// The state of the snapshot; none = it is damaged. A snapshot of another version is an error.
[[nodiscard]] Result<std::optional<core::ClusterState>> read_snapshot(Database& database, std::uint64_t seq);

class SnapshotStore {
 public:
  [[nodiscard]] Status prepare(Database& database);

  // The newest complete one; 0 = there is none.
  [[nodiscard]] std::uint64_t newest() const { return heads_.empty() ? 0 : heads_.front().seq; }
  // Rows of the journal up to here are in every kept snapshot.
  [[nodiscard]] std::uint64_t oldest() const { return heads_.empty() ? 0 : heads_.back().seq; }

  // The heads of the kept ones, the newest first.
  [[nodiscard]] const std::vector<SnapshotHead>& heads() const { return heads_; }

  // Number of possibly changed rows that the newest one compared; 0 = it was written before this start.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

  // The snapshot that recovery began with, and its state, which the next one is compared with; 0 and an empty state =
  // none. Newer ones are damaged or incomplete, and are removed. Requires: a batch is open.
  [[nodiscard]] Status go_on_from(std::uint64_t seq, const core::ClusterState& state);

  [[nodiscard]] bool under_way() const { return taken_.has_value(); }
  // Begins a snapshot of the state after this row, newer than newest(). Requires: none is in progress.
  void begin(std::uint64_t seq, const core::ClusterState& state);
  // Writes up to this many rows more; with the last of them the snapshot is complete. Requires: one is in progress, a
  // batch is open.
  [[nodiscard]] Status write(std::size_t rows);

  // Keeps the two newest, those at the required distance from one another, and of those before `keep_since` the newest.
  // Requires: a batch is open.
  [[nodiscard]] Status drop_heads(Instant keep_since, Duration apart);
  // Checks up to this many removed keys, and deletes the rows that no kept snapshot sees; returns whether there may be
  // others. Requires: a batch is open.
  [[nodiscard]] Result<bool> drop_gone(int rows);

 private:
  struct Taken {
    std::uint64_t seq = 0;
    core::ClusterState state;
    std::vector<core::RowKey> rows;
    std::size_t next = 0;  // next one to write
  };
  // A row that marks its key as removed.
  struct GoneRow {
    std::int64_t seq = 0;
    std::int64_t row = 0;
  };
  [[nodiscard]] Status write_row(core::RowKey key);
  [[nodiscard]] Status finish();

  std::vector<SnapshotHead> heads_;  // newest first
  core::ClusterState base_;          // of the newest one
  std::optional<Taken> taken_;
  // Rows that the newest one has, or will have, and the sum of their digests.
  std::uint64_t live_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t looked_at_ = 0;
  GoneRow gone_until_;  // checked since an older snapshot was removed
  Statement add_row_, newest_version_, drop_hidden_, add_head_, drop_head_, find_gone_, drop_gone_;
  Statement drop_newer_rows_, drop_newer_heads_, sum_of_head_;
};

}  // namespace tidepool::live
