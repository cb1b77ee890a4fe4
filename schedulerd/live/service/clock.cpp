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

}  // namespace

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
    const bool same_boot = !reading.boot_id.empty() && reading.boot_id == last->reading.boot_id;
    const std::int64_t away_us =
        same_boot ? reading.boottime_us - last->reading.boottime_us : reading.wall_unix_us - last->reading.wall_unix_us;
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
