// The daemon's time line, which times all facts and decisions. now() never goes backwards, even over a restart or when
// the wall clock is set.
//
// Rule: the engine receives Instants of this clock and reads no clock itself. Limits of connections, and the validity
// of tokens and certificates, use the machine's own clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// One reading of the machine's clocks.
struct ClockReading {
  std::string boot_id;            // changes with each boot of the machine
  std::int64_t boottime_us = 0;   // since boot, sleep included
  std::int64_t wall_unix_us = 0;  // may be set at any time
};

class ClockSource {
 public:
  virtual ~ClockSource() = default;
  [[nodiscard]] virtual ClockReading read() = 0;
};

// CLOCK_BOOTTIME and CLOCK_REALTIME of this machine.
class SystemClockSource final : public ClockSource {
 public:
  SystemClockSource();
  [[nodiscard]] ClockReading read() override;

 private:
  std::string boot_id_;
};

// What the journal stores with each batch, so that the time line continues after a restart.
struct StoredClock {
  ClockReading reading;
  Instant at;
  std::int64_t unix_us_at_zero = 0;
};

// How far the wall clock may have moved, forwards or backwards, while the machine was off.
inline constexpr Duration kOffAtMost = Duration::seconds(30 * 24 * 3600);
inline constexpr Duration kBackAtMost = Duration::seconds(24 * 3600);

// Whether a time line may continue from `last` with these clocks. After a boot it advances permanently by as much as
// the wall clock: a clock that is years ahead would end every deadline and expire the whole history. With a clock that
// is far behind, times would be shown and judged (of tokens, windows, certificates) for a past day. Within one boot the
// wall clock does not matter.
[[nodiscard]] Status check_clock(const ClockReading& reading, const StoredClock& last);

class DaemonClock {
 public:
  // Continues from `last`: within one boot by the time since boot, else by the wall clock, which may advance the line
  // but never turn it back. Without `last` the line starts at 0.
  DaemonClock(ClockSource& source, const std::optional<StoredClock>& last);

  [[nodiscard]] Instant now();
  // For display. Follows the wall clock only when they differ by more than half a second, so that
  // the times of old events do not flicker.
  [[nodiscard]] WallClock wall();
  // A reading that belongs to now(), for the journal.
  [[nodiscard]] StoredClock stored();

 private:
  ClockSource& source_;
  Instant zero_at_;  // the time line at boottime_zero_us_
  std::int64_t boottime_zero_us_ = 0;
  Instant newest_;
  std::int64_t unix_us_at_zero_ = 0;
};

// Seconds since 1970 by the wall clock; for expiry stamps that people gave in wall-clock time.
[[nodiscard]] std::int64_t unix_seconds(const WallClock& clock, Instant at);

}  // namespace tidepool::live
