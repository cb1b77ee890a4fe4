// When old data is removed: rows of the journal, decisions, events, ended jobs with their measurements, and the stored
// answers of idempotency keys. The oldest are removed first, a few with each batch, so that no request waits for the
// removal and a full table empties in time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class Retention {
 public:
  struct Bounds {
    Instant keep_since;                 // older rows are removed
    std::uint64_t covered = 0;          // rows of the journal up to here are in every kept snapshot
    std::int64_t progress_until = 0;    // job.progressed events up to here are removed
    std::uint64_t kept_decision = 0;    // is kept at any age
    std::int64_t receipts_until_s = 0;  // Unix time
  };

  [[nodiscard]] Status prepare(Database& database);
  // Removes up to this many rows of each kind; returns whether there may be more to remove. Requires: a batch is open.
  [[nodiscard]] Result<bool> drop(const Bounds& bounds, int rows);

 private:
  [[nodiscard]] Result<bool> drop_ended(std::int64_t since_us, int rows);

  Statement drop_rows_, drop_events_, drop_progress_, drop_decisions_, drop_decision_jobs_, drop_receipts_;
  Statement find_ended_, drop_ended_, drop_metrics_, drop_placements_, oldest_event_, changed_;
  std::int64_t progress_from_ = 0;  // there is no job.progressed event below
};

// The limit of the file's size. While the file is larger, a frontier moves forward in time, and older rows than the
// frontier are removed early, of every table alike.
//
// Rule: it moves only when nothing before it can be removed any more; then past the oldest remaining row, by a 64th of
// the time from there to the older of the two newest snapshots and at least by a second, and never beyond that
// snapshot, since a recovery needs the rows after it. So it ends in any case: a file that is still too large is
// reported once, and checked again when there is another snapshot.
class SizeLimit {
 public:
  // Times of snapshots.
  struct Heads {
    Instant next;    // the frontier from which on the oldest one is not needed
    Instant needed;  // of the older of the two newest
  };
  explicit SizeLimit(std::int64_t bytes_max) : bytes_max_(bytes_max) {}  // 0 = none

  [[nodiscard]] Status prepare(Database& database);
  [[nodiscard]] Instant keep_since(Instant by_age) const { return std::max(by_age, frontier_.value_or(by_age)); }
  // Whether another keep_since() now has rows to remove. Requires: nothing more can be removed by `bounds`.
  [[nodiscard]] Result<bool> move_on(const Retention::Bounds& bounds, const Heads& heads);

 private:
  void tell(std::int64_t bytes);

  std::int64_t bytes_max_ = 0;
  std::optional<Instant> frontier_;  // none: the file is not too large
  bool told_ = false;
  Statement size_in_use_, oldest_left_;
};

}  // namespace tidepool::live
