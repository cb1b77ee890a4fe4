// Conversions between the engine's time line, whose zero is when the pool began, and UTC in microseconds since 1970.
#pragma once

#include <cstdint>

#include "base/calendar.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] inline std::int64_t utc_us(const ClusterState& state, Instant at) {
  return at.count_us() + state.utc_us_at_zero;
}

[[nodiscard]] inline Instant at_utc(const ClusterState& state, std::int64_t unix_us) {
  return Instant::from_micros(unix_us - state.utc_us_at_zero);
}

// In whole seconds since 1970, rounded up: used to tell people from when something applies.
[[nodiscard]] inline std::int64_t utc_second_from(const ClusterState& state, Instant at) {
  constexpr std::int64_t kSecond = 1'000'000;
  return (utc_us(state, at) + kSecond - 1) / kSecond;
}

// In days since 1970.
[[nodiscard]] inline std::int64_t day_in_utc(const ClusterState& state, Instant at) {
  return day_of(utc_us(state, at));
}

}  // namespace tidepool::core
