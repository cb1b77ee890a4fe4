// What the decision benchmarks share: their clock, their lines, the report of a job that trains as before, and how half
// a cluster and a whole one are measured.
//
// Rule: what is compared is measured in turns, a few samples of the one and then of the other, so that a machine that
// is slower for a while slows both.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"
#include "tests/bench/percentiles.hpp"

namespace tidepool {

// Time of this thread on a processor, so that what else the machine does stays out of the figures.
[[nodiscard]] double now_us();

// One JSON object: value and baseline in microseconds, and their ratio.
void print(const std::string& metric, double value, double baseline);

// One figure on half a cluster and on a whole one.
struct Growth {
  Times half;
  Times full;
};

// The p50 and the p99 of both, with the metric's name in between: "PREFIX_p50_SUFFIX"; how they were measured is said.
void print_growth(const std::string& prefix, const std::string& suffix, const Growth& growth);

// Turns, and samples of each cluster in a turn: one of what takes long; of what is short more, so that the cluster's
// data is back in the caches.
struct Turns {
  std::size_t turns = 0;
  std::size_t samples = 1;
};

template <typename Cluster, typename Sample>
Growth in_turns(Turns turns, Cluster& half, Cluster& full, Sample sample) {
  std::vector<double> of_half;
  std::vector<double> of_full;
  for (std::size_t turn = 0; turn < turns.turns; ++turn) {
    for (std::size_t i = 0; i < turns.samples; ++i) of_half.push_back(sample(half));
    for (std::size_t i = 0; i < turns.samples; ++i) of_full.push_back(sample(full));
  }
  return {percentiles(std::move(of_half)), percentiles(std::move(of_full))};
}

// Eight steps of 100 ms since its last report, all ranks alike.
[[nodiscard]] core::StepsMeasured report_of(const core::Job& job);

}  // namespace tidepool
