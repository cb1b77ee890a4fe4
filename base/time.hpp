// Points and lengths of time as integer microseconds. There is deliberately no now():
// code that needs the time takes an Instant, so the simulator and the daemon run the same code.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool {

// A length of time. May be negative as a difference.
class Duration {
 public:
  constexpr Duration() = default;
  [[nodiscard]] static constexpr Duration micros(std::int64_t n) { return Duration(n); }
  [[nodiscard]] static constexpr Duration millis(std::int64_t n) { return Duration(n * 1'000); }
  [[nodiscard]] static constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000); }
  // Rounds to the nearest microsecond; `s` must be finite and below 290,000 years.
  [[nodiscard]] static Duration from_seconds(double s);

  [[nodiscard]] constexpr std::int64_t count_us() const { return us_; }
  [[nodiscard]] constexpr std::int64_t count_ms() const { return us_ / 1'000; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(us_) * 1e-6; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return Duration(us_ + other.us_); }
  constexpr Duration operator-(Duration other) const { return Duration(us_ - other.us_); }
  constexpr Duration operator*(std::int64_t n) const { return Duration(us_ * n); }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }

 private:
  constexpr explicit Duration(std::int64_t us) : us_(us) {}
  std::int64_t us_ = 0;
};

// A point on the daemon's own time line (or the simulator's). It never goes backwards, survives a
// restart, and has no relation to the wall clock that a decision could see.
class Instant {
 public:
  constexpr Instant() = default;
  [[nodiscard]] static constexpr Instant from_micros(std::int64_t us) { return Instant(us); }
  [[nodiscard]] constexpr std::int64_t count_us() const { return us_; }

  constexpr auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return Instant(us_ + d.count_us()); }
  constexpr Instant operator-(Duration d) const { return Instant(us_ - d.count_us()); }
  constexpr Duration operator-(Instant other) const { return Duration::micros(us_ - other.us_); }

 private:
  constexpr explicit Instant(std::int64_t us) : us_(us) {}
  std::int64_t us_ = 0;
};

// "250ms", "30s", "1.5m", "2h", "7d"; at most 10 years and not negative.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// The shortest exact form parse_duration reads back: "30s", "1500ms", "2h".
[[nodiscard]] std::string to_text(Duration duration);

}  // namespace tidepool
