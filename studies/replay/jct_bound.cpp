#include "studies/replay/jct_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "studies/models/learnt_speed.hpp"
#include "studies/replay/oracle_speed.hpp"

namespace tidepool::sim {
namespace {

using policies::BatchSplit;
using policies::cluster::packed;

// One way to train: a size with a batch.
struct Way {
  int size = 0;
  int batch = 0;
  double step_s = 0;
};

std::vector<BatchSplit> splits_for(const NeedSetup& setup, int size) {
  if (setup.fixed_batch > 0) return {policies::split_batch(setup.fixed_batch, size, setup.limits)};
  return policies::batch_choices(size, setup.limits);
}

std::vector<Way> all_ways(const NeedSetup& setup) {
  std::vector<Way> ways;
  for (int size = 1; size <= setup.size_max; ++size) {
    const std::vector<int> slots = slots_of(packed(size, setup.slots_per_node), setup.slots_per_node);
    for (const BatchSplit& split : splits_for(setup, size)) {
      const auto step_s = measured_step_seconds(setup.application, slots, split);
      if (step_s) ways.push_back({.size = size, .batch = split.global(size), .step_s = *step_s});
    }
  }
  return ways;
}

// Which job the pool serves: the one with the least key, such as its remaining or its whole work. Ends when all ended.
struct Pool {
  double end_sum_s = 0;        // of ends
  double mean_busy_sum_s = 0;  // of mean busy times
};
Pool serve(std::vector<std::pair<double, double>> jobs, bool by_remaining) {
  // (ready, work in seconds of the whole pool)
  std::sort(jobs.begin(), jobs.end());
  std::vector<double> left;
  for (const auto& [ready, work] : jobs) left.push_back(work);
  std::set<std::pair<double, std::size_t>> waiting;  // key, job
  Pool pool;
  double now = 0;
  std::size_t next = 0;
  while (next < jobs.size() || !waiting.empty()) {
    if (waiting.empty()) now = std::max(now, jobs[next].first);
    for (; next < jobs.size() && jobs[next].first <= now; ++next) waiting.emplace(jobs[next].second, next);
    const auto [key, job] = *waiting.begin();
    waiting.erase(waiting.begin());
    const double until = next < jobs.size() ? jobs[next].first : std::numeric_limits<double>::infinity();
    const double served = std::min(left[job], until - now);
    pool.mean_busy_sum_s += (now + served / 2) * served / jobs[job].second;
    now += served;
    left[job] -= served;
    if (left[job] > 0) {
      waiting.emplace(by_remaining ? left[job] : key, job);
    } else {
      pool.end_sum_s += now;
    }
  }
  return pool;
}

}  // namespace

LeastNeed least_need(const NeedSetup& setup) {
  const std::vector<Way> ways = all_ways(setup);
  const MeasuredApplication& application = setup.application;
  LeastNeed need;
  std::vector<std::pair<double, double>> epochs;  // seconds, slot-seconds
  for (int epoch = 0; epoch < application.epochs(); ++epoch) {
    const double work = application.progress_after(epoch + 1) - application.progress_after(epoch);
    double pace = 0;
    double per_slot = 0;
    for (const Way& way : ways) {
      const GradientStatistics noise = application.gradient(way.batch, epoch);
      const double gain =
          policies::gain_of_batch({.sqr = noise.sqr, .var = noise.var}, way.batch, application.initial_batch());
      pace = std::max(pace, gain / way.step_s);
      per_slot = std::max(per_slot, gain / way.step_s / way.size);
    }
    epochs.emplace_back(work / pace, work / per_slot);
    need.seconds += epochs.back().first;
    need.slot_seconds += epochs.back().second;
  }
  double after_s = need.seconds;
  for (const auto& [seconds, slot_seconds] : epochs) {
    after_s -= seconds;
    need.lag_s += (after_s + seconds / 2) * slot_seconds / need.slot_seconds;
  }
  return need;
}

double JctBounds::best_s() const {
  return std::max({alone_s, srpt_s, busy_s});
}

JctBounds jct_bounds(const std::vector<NeedyJob>& jobs, int slots) {
  JctBounds bounds;
  if (jobs.empty()) return bounds;
  double submitted = 0;
  double lag = 0;
  std::vector<std::pair<double, double>> pooled;
  for (const NeedyJob& job : jobs) {
    submitted += job.submitted_s;
    lag += job.need.lag_s;
    bounds.alone_s += job.ready_s + job.need.seconds;
    pooled.emplace_back(job.ready_s, job.need.slot_seconds / slots);
  }
  const auto mean = [&](double ends) { return (ends - submitted) / static_cast<double>(jobs.size()); };
  bounds.alone_s = mean(bounds.alone_s);
  bounds.srpt_s = mean(serve(pooled, true).end_sum_s);
  bounds.busy_s = mean(serve(pooled, false).mean_busy_sum_s + lag);
  return bounds;
}

}  // namespace tidepool::sim
