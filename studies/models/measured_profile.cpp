#include "studies/models/measured_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tidepool::policies {
namespace {

// The mean of values whose sum is kept exact to a rounding (Kahan).
class Mean {
 public:
  void add(double value) {
    const double corrected = value - lost_;
    const double sum = sum_ + corrected;
    lost_ = (sum - sum_) - corrected;
    sum_ = sum;
    ++count_;
  }
  [[nodiscard]] double value() const { return sum_ / count_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
  int count_ = 0;
};

using ScaleKey = std::tuple<int, int, int>;  // nodes, size, local batch

std::vector<DelaunayField::Sample> samples_of(const std::vector<PlacementMeasurement>& placements,
                                              const std::vector<ScaleMeasurement>& scales) {
  std::map<ScaleKey, std::array<Mean, 2>> means;
  for (const PlacementMeasurement& row : placements) {
    const int size = std::accumulate(row.slots.begin(), row.slots.end(), 0);
    auto& [step, sync] = means[{static_cast<int>(row.slots.size()), size, row.local_batch}];
    step.add(row.time.step_s);
    sync.add(row.time.sync_s);
  }
  std::vector<DelaunayField::Sample> samples;
  for (const auto& [key, mean] : means) {
    const auto& [nodes, size, batch] = key;
    samples.push_back(
        {.at = {double(nodes), double(size), double(batch)}, .value = {mean[0].value(), mean[1].value()}});
  }
  for (const ScaleMeasurement& row : scales) {
    samples.push_back({.at = {double(row.nodes), double(row.size), double(row.local_batch)},
                       .value = {row.time.step_s, row.time.sync_s}});
  }
  return samples;
}

std::optional<StepTime> between(const std::map<int, StepTime>& measured, int local_batch) {
  const auto above = measured.lower_bound(local_batch);
  if (above == measured.end()) return std::nullopt;
  if (above->first == local_batch) return above->second;
  if (above == measured.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const auto line = [&](double from, double to) {
    return (to - from) / double(above->first - below->first) * double(local_batch - below->first) + from;
  };
  return StepTime{line(below->second.step_s, above->second.step_s), line(below->second.sync_s, above->second.sync_s)};
}

bool sound(const StepTime& time) {
  return std::isfinite(time.step_s) && std::isfinite(time.sync_s) && time.step_s > 0 && time.sync_s >= 0;
}

}  // namespace

std::vector<int> smallest_rotation(std::vector<int> slots) {
  std::vector<int> smallest = slots;
  for (std::size_t i = 1; i < slots.size(); ++i) {
    std::rotate(slots.begin(), slots.begin() + 1, slots.end());
    smallest = std::min(smallest, slots);
  }
  return smallest;
}

Result<MeasuredProfile> MeasuredProfile::from(const std::vector<PlacementMeasurement>& placements,
                                              const std::vector<ScaleMeasurement>& scales) {
  if (placements.empty()) return invalid_argument("a profile needs at least one measured placement");
  MeasuredProfile profile;
  profile.local_batch_min_ = profile.local_batch_max_ = placements.front().local_batch;
  for (const PlacementMeasurement& row : placements) {
    if (!sound(row.time)) return invalid_argument("a measured placement has a step time that is not above 0");
    profile.by_placement_[smallest_rotation(row.slots)].emplace(row.local_batch, row.time);
    profile.local_batch_min_ = std::min(profile.local_batch_min_, row.local_batch);
    profile.local_batch_max_ = std::max(profile.local_batch_max_, row.local_batch);
  }
  if (scales.empty()) return profile;
  for (const ScaleMeasurement& row : scales) {
    if (!sound(row.time)) return invalid_argument("a measurement by scale has a step time that is not above 0");
  }
  auto field = DelaunayField::over(samples_of(placements, scales));
  if (!field) return field.error();
  profile.by_scale_ = *std::move(field);
  return profile;
}

std::optional<StepTime> MeasuredProfile::step_time(const std::vector<int>& slots, int local_batch) const {
  if (const auto found = by_placement_.find(smallest_rotation(slots)); found != by_placement_.end()) {
    return between(found->second, local_batch);
  }
  if (!by_scale_) return std::nullopt;
  const int nodes = std::min(static_cast<int>(slots.size()), kNodesMax);
  const int size = std::accumulate(slots.begin(), slots.end(), 0);
  const auto value = by_scale_->at({double(nodes), double(size), double(local_batch)});
  if (!value) return std::nullopt;
  return StepTime{(*value)[0], (*value)[1]};
}

}  // namespace tidepool::policies
