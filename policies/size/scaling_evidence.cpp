#include "policies/size/scaling_evidence.hpp"

#include <algorithm>
#include <cstddef>

#include "core/facts/throughput.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "policies/size/utility.hpp"

namespace tidepool::policies {

namespace {

bool came_from(const MeasuredSize& size, const MeasuredSize& other) {
  return size.entered.from == other.size && size.entered.from_rate > 0 && size.entered.rate > 0;
}

// The larger one, with what it would give at a time at which the smaller one gives its mean.
MeasuredSize beside(const MeasuredSize& small, MeasuredSize large) {
  const core::SizeChange& up = large.entered;
  const core::SizeChange& down = small.entered;
  const bool went_down = came_from(small, large);
  if (came_from(large, small) && (!went_down || up.at > down.at)) {
    large.rate = small.rate * up.rate / up.from_rate;
  } else if (went_down) {
    large.rate = small.rate * down.from_rate / down.rate;
  }
  return large;
}

}  // namespace

ScalingEvidence::ScalingEvidence(const core::ClusterView& view, const core::Job& job, const AllowedSizes& ladder,
                                 Comparison comparison)
    : job_(job),
      now_(view.now),
      by_utility_(has_utility(job.spec.scaling)),
      threshold_(job.spec.scaling.efficiency_threshold) {
  sizes_.reserve(job.measurements.sizes.size());
  for (const auto& [size, record] : job.measurements.sizes) {
    const bool comparable = is_measured(record, job) && record.samples_per_second > 0;
    if (!comparable || !ladder.has(size)) continue;
    const bool trusted = size == job.size() || !stale(size, record);
    sizes_.push_back({.size = size,
                      .rate = record.samples_per_second,
                      .steps = trusted ? record.steps : 0,
                      .entered = record.entered});
  }
  if (by_utility_) {
    worker_second_price_ =
        price_per_slot_hour(view.state, job).to_units() * static_cast<double>(job.spec.gpus_per_worker) / 3'600;
  }
  const MeasuredSize* present = find(job.size());
  if (const auto left = samples_left(job)) {
    remaining_samples_ = *left;
  } else if (present != nullptr) {
    remaining_samples_ = present->rate * kHorizonSeconds;
  }
  if (sizes_.size() > 1) pairs_.reserve(sizes_.size() - 1);
  for (std::size_t i = 1; i < sizes_.size(); ++i) {
    const MeasuredSize& small = sizes_[i - 1];
    const bool means = comparison == Comparison::kMeans;
    pairs_.push_back(judge(small, means ? sizes_[i] : beside(small, sizes_[i]), job.size()));
  }
}

const MeasuredSize* ScalingEvidence::find(int size) const {
  const auto found = std::find_if(sizes_.begin(), sizes_.end(), [&](const auto& entry) { return entry.size == size; });
  return found == sizes_.end() ? nullptr : &*found;
}

const PairVerdict* ScalingEvidence::into(int size) const {
  const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.large == size; });
  return found == pairs_.end() ? nullptr : &*found;
}

bool ScalingEvidence::stale(int size, const core::SizeRecord& record) const {
  const double visit = stall_seconds(job_.size(), size) + stall_seconds(size, job_.size()) +
                       record.step_seconds * static_cast<double>(job_.spec.scaling.every_steps);
  const double age = (now_ - record.measured_at).to_seconds();
  return age > kTrustFor.to_seconds() && age > visit / kVisitShareMax;
}

PairVerdict ScalingEvidence::judge(const MeasuredSize& small, const MeasuredSize& large, int present) const {
  const double k1 = small.size;
  const double k2 = large.size;
  PairVerdict pair{.small = small.size, .large = large.size};
  pair.efficiency = ((large.rate - small.rate) / (k2 - k1)) / (small.rate / k1);
  // From below, the step must pay by more than noise; from above, the paper's condition decides alone.
  const double noise = present <= small.size ? kNoise : 0;
  if (!by_utility_) {
    pair.asked = threshold_ + noise * k1 / (k2 - k1);
    pair.passed = pair.efficiency > pair.asked;
    return pair;
  }
  const double elapsed = (now_ - job_.submitted_at).to_seconds();
  const double small_seconds = remaining_samples_ / small.rate;
  const double large_seconds = remaining_samples_ / large.rate;
  const double small_cost = k1 * worker_second_price_ * small_seconds;
  const double large_cost = k2 * worker_second_price_ * large_seconds;
  pair.gain =
      utility_at(job_.spec.scaling, elapsed + large_seconds) - utility_at(job_.spec.scaling, elapsed + small_seconds);
  pair.cost = large_cost - small_cost;
  pair.passed = pair.gain > pair.cost + noise * small_cost;
  return pair;
}

double ScalingEvidence::stall_seconds(int from, int to) const {
  if (job_.spec.resize == core::ResizeMode::kRestart) return core::restart_stall(job_, to).to_seconds();
  const auto kind = to > from ? &core::TypeRecords::grow_cost : &core::TypeRecords::shrink_cost;
  return core::change_stall(job_, kind, to).to_seconds();
}

double ScalingEvidence::gain_seconds(int from, int to, double to_rate) const {
  const double from_seconds = remaining_samples_ / find(from)->rate;
  const double to_seconds = remaining_samples_ / to_rate;
  if (!by_utility_) return to > from ? from_seconds - to_seconds : from_seconds - to_seconds * to / from;
  const auto worth = [&](double seconds) {
    return utility_at(job_.spec.scaling, (now_ - job_.submitted_at).to_seconds() + seconds);
  };
  const double price = worker_second_price_;
  const double net =
      (worth(to_seconds) - to_seconds * to * price) - (worth(from_seconds) - from_seconds * from * price);
  const double of_a_second = from * price + worth(from_seconds) - worth(from_seconds + 1);
  if (of_a_second > 0) return net / of_a_second;
  return net > 0 ? from_seconds : 0;  // time is worth nothing to this job, so a stall costs nothing
}

double ScalingEvidence::gain_seconds(int from, int to) const {
  return gain_seconds(from, to, find(to)->rate);
}

double ScalingEvidence::best_gain_seconds(int from, int to) const {
  const double rate = find(from)->rate;
  return gain_seconds(from, to, to > from ? rate * to / from : rate);
}

core::reason::Efficiency ScalingEvidence::efficiency_of(const PairVerdict& pair) const {
  core::reason::Efficiency told{.efficiency = pair.efficiency, .threshold = threshold_};
  if (pair.asked > threshold_) told.margin = pair.asked - threshold_;
  if (pair.efficiency >= 0) return told;
  // As they were compared: the mean of the larger one may be of a better time.
  const double small = find(pair.small)->rate;
  told.throughput = small;
  told.next_throughput = small * (1 + pair.efficiency * (pair.large - pair.small) / pair.small);
  return told;
}

core::Reason ScalingEvidence::settled(const PairVerdict& pair) const {
  const core::reason::WithNext sizes{.size = pair.small, .next = pair.large};
  if (by_utility_) return core::reason::UtilitySettled{sizes, utility_of(pair)};
  return core::reason::EfficiencySettled{sizes, efficiency_of(pair)};
}

core::Reason ScalingEvidence::grows(const core::reason::Change& change, const PairVerdict& pair) const {
  if (by_utility_) return core::reason::UtilityUp{{change, utility_of(pair)}};
  return core::reason::EfficientUp{{change, efficiency_of(pair)}};
}

core::Reason ScalingEvidence::shrinks(const core::reason::Change& change, const PairVerdict& pair) const {
  if (by_utility_) return core::reason::UtilityDown{{change, utility_of(pair)}};
  return core::reason::InefficientDown{{change, efficiency_of(pair)}};
}

core::Reason ScalingEvidence::looks_below(const core::reason::Change& change, const PairVerdict& pair) const {
  if (by_utility_) return core::reason::UtilityDown{{change, utility_of(pair)}};
  return core::reason::ExploreDown{{change, efficiency_of(pair)}};
}

}  // namespace tidepool::policies
