// What of the past goes when: rows of the journal, decisions, events, jobs that have ended with what was measured of
// them, and the answers that idempotency keys are kept for. The oldest go first, a few with each batch, so that no
// request waits for the cleaning and a full table empties in time.
#pragma once

#include <cstdint>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class Retention {
 public:
  struct Bounds {
    Instant keep_since;                 // older ones go; where there is too much, now
    std::uint64_t covered = 0;          // rows of the journal up to here are in every snapshot that is kept
    std::int64_t progress_until = 0;    // job.progressed is kept of newer events only
    std::uint64_t kept_decision = 0;    // stays, however old
    std::int64_t receipts_until_s = 0;  // Unix time
  };

  [[nodiscard]] Status prepare(Database& database);
  // Up to so many rows of each kind; whether there may be more to drop. Requires: a batch is open.
  [[nodiscard]] Result<bool> drop(const Bounds& bounds, int rows);

 private:
  [[nodiscard]] Result<bool> drop_ended(std::int64_t since_us, int rows);

  Statement drop_rows_, drop_events_, drop_progress_, drop_decisions_, drop_decision_jobs_, drop_receipts_;
  Statement find_ended_, drop_ended_, drop_metrics_, drop_placements_, oldest_event_, changed_;
  std::int64_t progress_from_ = 0;  // there is no job.progressed below
};

}  // namespace tidepool::live
