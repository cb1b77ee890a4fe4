// What a replay needs to know of one job's training; each simulator brings its own. Times are whole seconds from the
// start of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::sim {

class Training {
 public:
  virtual ~Training() = default;

  // Holds these slots from now on: workers per node in rank order; empty = stands still.
  virtual void hold(const std::vector<int>& slots) = 0;
  // Others on its nodes take this part of its speed, until it is told another.
  virtual void disturb(double /*part*/) {}
  // Lets so much time pass from `from_s` on; not told of time before it was shown to the policy. An error is a
  // placement for which nothing was measured.
  [[nodiscard]] virtual Status advance(std::int64_t from_s, int seconds) = 0;
  // When it ended.
  [[nodiscard]] virtual std::optional<std::int64_t> finished_s() const = 0;
  // Fills in what a policy may know of it: limits, speed, work left.
  virtual void describe(policies::cluster::JobRow& row) const = 0;
  // Slots x time held, to its end.
  [[nodiscard]] virtual double slot_seconds() const = 0;
  // How long it would take alone on `slots` slots that it never has to give back.
  [[nodiscard]] virtual double alone_seconds(double slots) const = 0;
};

}  // namespace tidepool::sim
