// What it costs a job's owner that the job ends later, by the utility U(t) of its job file against the price of a slot:
// a factor of the job's weight, so that jobs of one tenant are served for what they bring. With a the time since
// submission and r what the job still takes once it has the slots that it wants, waiting for as long as that loses
//
//   rate = (U(a + r) - U(a + 2 r)) / r        factor = rate / price of a slot, from 1/16 to 16
//
// A job that loses in an hour what one slot costs counts as one without a utility does: 1. The bounds are four levels
// of priority either way, so that a large number in a job file outbids no job with a priority well above its own.
// Without prices there is nothing to hold a utility against, and the factor is 1.
//
// The time `a` is told in steps of r / 8, at least a minute, so that the factor changes at few times.
#pragma once

#include <cstdint>
#include <optional>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::tidal {

class DelayCost {
 public:
  DelayCost() = default;  // of a job without a utility
  // `left_s`: r, in seconds, > 0. The row's ScalingSpec is read during its life.
  DelayCost(const cluster::JobRow& job, double left_s);

  [[nodiscard]] double factor(Instant now) const;
  // The first time after `now` at which the factor may be another; none = never.
  [[nodiscard]] std::optional<Instant> changes_after(Instant now) const;

 private:
  [[nodiscard]] std::int64_t steps(Instant now) const;

  const core::ScalingSpec* scaling_ = nullptr;  // null: the factor is 1
  Instant submitted_;
  double slot_price_ = 0;  // an hour
  double left_s_ = 0;
  Duration step_;
  std::int64_t steps_most_ = 0;  // then the delay lies on the last line of the utility, which goes on for ever
};

}  // namespace tidepool::policies::tidal
