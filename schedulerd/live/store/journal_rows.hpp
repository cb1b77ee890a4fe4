// The rows of a turn, written to the journal. Wall-clock times are added here.
#pragma once

#include "schedulerd/leader/turn_rows.hpp"
#include "schedulerd/live/store/journal.hpp"

namespace tidepool::live {

// The time at which a row is written, on the daemon's clock and by the wall clock.
struct RowTime {
  Instant now;
  WallClock wall;
};

// Appends to the open batch. The report on a shadow is written by its comparer, so that its row writes nothing.
[[nodiscard]] Status append_row(Journal& journal, const leader::TurnRow& row, const RowTime& time);

}  // namespace tidepool::live
