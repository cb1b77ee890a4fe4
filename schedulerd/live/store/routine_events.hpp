// Which rows of the journal hold routine events: core/state/routine_event.hpp as a condition that SQLite reads.
#pragma once

namespace tidepool::live {

// A condition on a row of events; null where an audit lacks a number.
inline constexpr const char* kRoutineEvents =
    "type='job.progressed' OR (type='data.epoch_audited' AND data->'checksum_ok'='true' AND "
    "data->>'used'=data->>'expected')";

}  // namespace tidepool::live
