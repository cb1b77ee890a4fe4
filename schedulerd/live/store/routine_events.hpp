// Events that come all the time while jobs train and tell of nothing amiss: how far they are, and epochs that used each
// sample once. They are kept for less long than others, and brief lists leave them out.
#pragma once

namespace tidepool::live {

// A condition on a row of events; null where an audit lacks a number.
inline constexpr const char* kRoutineEvents =
    "type='job.progressed' OR (type='data.epoch_audited' AND data->>'checksum_ok' AND data->>'used'=data->>'expected')";

}  // namespace tidepool::live
