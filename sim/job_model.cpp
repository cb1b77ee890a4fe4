#include "sim/job_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tidepool::sim {
namespace {

// What one rank computes in a step: its share of the batch at the speed of a worker alone.
double compute_seconds(const GroundTruth& truth, int size) {
  return static_cast<double>(truth.global_batch) / size / throughput_at(truth, 1);
}

}  // namespace

double throughput_at(const GroundTruth& truth, int size) {
  if (truth.table.empty()) return truth.curve.at(size);
  const auto above = truth.table.lower_bound(size);
  if (above == truth.table.end()) return std::prev(above)->second;
  if (above->first == size || above == truth.table.begin()) return above->second;
  const auto below = std::prev(above);
  const double share = static_cast<double>(size - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

std::int64_t steps_of(const GroundTruth& truth) {
  return std::max<std::int64_t>(1, (truth.work_samples + truth.global_batch - 1) / truth.global_batch);
}

double step_seconds(const GroundTruth& truth, int size, double slowdown) {
  const double normal = static_cast<double>(truth.global_batch) / throughput_at(truth, size);
  const double waiting = (slowdown - 1) * compute_seconds(truth, size);
  return std::max(1e-6, normal + waiting);
}

Duration draw_step(const GroundTruth& truth, int size, double slowdown, Rng& rng) {
  return draw_around(step_seconds(truth, size, slowdown), truth.noise, rng);
}

Duration draw_around(double seconds, double noise, Rng& rng) {
  // Three deviations at most: a report is a mean of many steps, and a step never takes no time.
  const double off = noise == 0 ? 0 : noise * std::clamp(rng.normal(), -3.0, 3.0);
  return std::max(Duration::micros(1), Duration::from_seconds(seconds * (1 + off)));
}

std::vector<std::int64_t> draw_compute_us(const GroundTruth& truth, std::int64_t steps,
                                          const std::vector<RankPace>& paces, Rng& rng) {
  const double mean_us = compute_seconds(truth, static_cast<int>(paces.size())) * 1e6;
  std::vector<std::int64_t> times;
  times.reserve(static_cast<std::size_t>(steps) * paces.size());
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const RankPace& pace : paces) {
      const double noise = 1 + pace.noise * std::clamp(rng.normal(), -3.0, 3.0);
      times.push_back(std::max<std::int64_t>(1, std::llround(mean_us * pace.slowdown * noise)));
    }
  }
  return times;
}

}  // namespace tidepool::sim
