#include "schedulerd/live/service/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

namespace tidepool::live {
namespace {

constexpr std::int64_t kWallTolerance_us = 500'000;

std::int64_t read_us(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1'000;
}

bool is_same_boot(const ClockReading& reading, const StoredClock& last) {
  return !reading.boot_id.empty() && reading.boot_id == last.reading.boot_id;
}

std::string wall_text(std::int64_t unix_us) {
  return WallClock{unix_us}.text(Instant());
}

}  // namespace

Status check_clock(const ClockReading& reading, const StoredClock& last) {
  if (is_same_boot(reading, last)) return ok_status();
  const Duration gone = Duration::micros(reading.wall_unix_us - last.reading.wall_unix_us);
  const bool behind = gone < Duration() - kBackAtMost;
  if (!behind && gone <= kOffAtMost) return ok_status();
  const Duration apart = behind ? Duration() - gone : gone;
  return invalid_argument("the clock of this machine says " + wall_text(reading.wall_unix_us) + ", " +
                          std::to_string(apart.count_us() / Duration::seconds(24 * 3600).count_us()) + " days " +
                          (behind ? "before" : "after") + " the newest entry of the journal (" +
                          wall_text(last.reading.wall_unix_us) +
                          "); set the clock and start again, or, if it is right, start once with --accept-clock");
}

SystemClockSource::SystemClockSource() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, boot_id_);
}

ClockReading SystemClockSource::read() {
  return {boot_id_, read_us(CLOCK_BOOTTIME), read_us(CLOCK_REALTIME)};
}

DaemonClock::DaemonClock(ClockSource& source, const std::optional<StoredClock>& last) : source_(source) {
  const ClockReading reading = source_.read();
  boottime_zero_us_ = reading.boottime_us;
  if (last) {
    const std::int64_t away_us = is_same_boot(reading, *last) ? reading.boottime_us - last->reading.boottime_us
                                                              : reading.wall_unix_us - last->reading.wall_unix_us;
    zero_at_ = last->at + Duration::micros(std::max<std::int64_t>(0, away_us));
    unix_us_at_zero_ = last->unix_us_at_zero;
  } else {
    unix_us_at_zero_ = reading.wall_unix_us;
  }
  newest_ = zero_at_;
}

Instant DaemonClock::now() {
  const Instant read = zero_at_ + Duration::micros(source_.read().boottime_us - boottime_zero_us_);
  newest_ = std::max(newest_, read);
  return newest_;
}

WallClock DaemonClock::wall() {
  const std::int64_t zero_us = source_.read().wall_unix_us - now().count_us();
  if (std::abs(zero_us - unix_us_at_zero_) > kWallTolerance_us) unix_us_at_zero_ = zero_us;
  return {unix_us_at_zero_};
}

StoredClock DaemonClock::stored() {
  const Instant at = now();
  return {source_.read(), at, wall().unix_us_at_zero};
}

std::string WallClock::text(Instant at) const {
  const std::int64_t unix_us = unix_us_at_zero + at.count_us();
  const std::int64_t within_us = ((unix_us % 1'000'000) + 1'000'000) % 1'000'000;
  const auto seconds = static_cast<std::time_t>((unix_us - within_us) / 1'000'000);
  std::tm calendar{};
  gmtime_r(&seconds, &calendar);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &calendar);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(within_us / 1'000));
  return text;
}

std::int64_t unix_seconds(const WallClock& clock, Instant at) {
  return (clock.unix_us_at_zero + at.count_us()) / 1'000'000;
}

}  // namespace tidepool::live
