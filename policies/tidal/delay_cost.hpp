// What a later end of a job costs its owner, by the utility U(t) of its job file compared with the price of a slot: a
// factor of the job's weight, so that jobs of one tenant are served by what they bring. With a the time since
// submission and r the time that the job still takes once it has the slots that it wants, the loss from waiting for the
// time r is
//
//   rate = (U(a + r) - U(a + 2 r)) / r        factor = rate / price of a slot, from 1/16 to 16
//
// A job that loses in an hour what one slot costs has the factor 1, like a job without a utility. The bounds are four
// levels of priority in either direction, so that a large number in a job file does not outbid a job with a much higher
// priority. Without prices the utility cannot be compared with anything, and the factor is 1.
//
// The time `a` is rounded to steps of r / 8, at least a minute, so that the factor changes at few times.
#pragma once

#include <cstdint>
#include <optional>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::tidal {

class DelayCost {
 public:
  DelayCost() = default;  // for a job without a utility
  // `left_s`: r, in seconds, > 0. The row's ScalingSpec must outlive this object.
  DelayCost(const cluster::JobRow& job, double left_s);

  [[nodiscard]] double factor(Instant now) const;
  // The first time after `now` at which the factor may change; none = never.
  [[nodiscard]] std::optional<Instant> changes_after(Instant now) const;

 private:
  [[nodiscard]] std::int64_t steps(Instant now) const;

  const core::ScalingSpec* scaling_ = nullptr;  // null: the factor is 1
  Instant submitted_;
  double slot_price_ = 0;  // an hour
  double left_s_ = 0;
  Duration step_;
  std::int64_t steps_most_ = 0;  // after these steps the delay is on the last line of the utility, which never ends
};

}  // namespace tidepool::policies::tidal
