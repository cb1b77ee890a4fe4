#include "policies/engine/type_ratios.hpp"

#include <cmath>
#include <iterator>

#include "policies/engine/job_speed.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kPartsOfDoubling = 65'536;

const std::pair<const int, core::SizeRecord>* smallest(const TypeRatios::Sizes& sizes) {
  for (const auto& entry : sizes) {
    if (was_measured(entry.second)) return &entry;
  }
  return nullptr;
}

// Parts of a doubling; none: it was not measured on both.
std::optional<std::int64_t> quotient(const TypeRatios::Sizes& of, const TypeRatios::Sizes& beside) {
  std::optional<double> ratio;
  for (const auto& [size, record] : of) {
    const auto other = beside.find(size);
    if (other == beside.end() || !was_measured(record) || !was_measured(other->second)) continue;
    ratio = record.samples_per_second / other->second.samples_per_second;
  }
  const auto* first = smallest(of);
  const auto* second = smallest(beside);
  if (!ratio && first != nullptr && second != nullptr) {
    ratio = first->second.samples_per_second / first->first / (second->second.samples_per_second / second->first);
  }
  if (!ratio) return std::nullopt;
  return std::llround(std::log2(*ratio) * kPartsOfDoubling);
}

std::int64_t steps_in(const TypeRatios::Sizes& sizes) {
  std::int64_t steps = 0;
  for (const auto& [size, record] : sizes) steps += was_measured(record) ? record.steps : 0;
  return steps;
}

}  // namespace

void TypeRatios::tell(const core::Job& job) {
  ByType records;
  if (!job.measurements.on_other_types.empty()) {
    for (const auto& [type, on_it] : job.measurements.on_other_types) records.emplace(type, &on_it.sizes);
    records.emplace(job.measurements.slot_type, &job.measurements.sizes);
  }
  tell(job.id, records);
}

void TypeRatios::tell(const core::EndedJob& job) {
  ByType records;
  if (!job.on_other_types.empty()) {
    for (const auto& [type, sizes] : job.on_other_types) records.emplace(type, &sizes);
    records.emplace(job.slot_type, &job.sizes);
  }
  tell(job.id, records);
}

void TypeRatios::tell(JobId job, const ByType& records) {
  std::map<Pair, std::int64_t> now;
  for (auto one = records.begin(); one != records.end(); ++one) {
    for (auto other = std::next(one); other != records.end(); ++other) {
      if (const auto parts = quotient(*one->second, *other->second))
        now.emplace(Pair(one->first, other->first), *parts);
    }
  }
  const auto before = told_.find(job);
  if (before == told_.end() ? now.empty() : before->second == now) return;
  if (before != told_.end()) withdraw(job);
  for (const auto& [pair, parts] : now) {
    sums_[pair].parts += parts;
    ++sums_[pair].jobs;
  }
  if (!now.empty()) told_.emplace(job, std::move(now));
  changed_ = true;
  ++revision_;
}

void TypeRatios::withdraw(JobId job) {
  const auto found = told_.find(job);
  if (found == told_.end()) return;
  for (const auto& [pair, parts] : found->second) {
    Sum& sum = sums_.at(pair);
    sum.parts -= parts;
    if (--sum.jobs == 0) sums_.erase(pair);
  }
  told_.erase(found);
  changed_ = true;
  ++revision_;
}

std::optional<double> TypeRatios::ratio(const std::string& of, const std::string& beside) const {
  if (of == beside) return 1;
  const bool in_order = of < beside;
  const auto found = sums_.find(in_order ? Pair(of, beside) : Pair(beside, of));
  if (found == sums_.end()) return std::nullopt;
  const double mean = double(found->second.parts) / double(found->second.jobs) / kPartsOfDoubling;
  return std::exp2(in_order ? mean : -mean);
}

std::optional<TypeRatios::Sizes> TypeRatios::expected(const core::Job& job) {
  const core::Measurements& measurements = job.measurements;
  if (measurements.on_other_types.empty() || steps_in(measurements.sizes) > 0) return std::nullopt;
  const std::pair<const std::string, core::TypeRecords>* best = nullptr;
  for (const auto& entry : measurements.on_other_types) {
    const std::int64_t steps = steps_in(entry.second.sizes);
    if (steps > 0 && (best == nullptr || steps > steps_in(best->second.sizes))) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  asking_.insert(job.id);
  const auto stated = [&](const std::string& type) {
    const auto found = job.spec.type_speeds.find(type);
    return found == job.spec.type_speeds.end() ? 1.0 : found->second;
  };
  const double faster =
      ratio(measurements.slot_type, best->first).value_or(stated(measurements.slot_type) / stated(best->first));
  Sizes sizes = best->second.sizes;
  for (auto& [size, record] : sizes) {
    record.samples_per_second *= faster;
    record.step_seconds /= faster;
  }
  return sizes;
}

std::vector<JobId> TypeRatios::take_moved() {
  std::vector<JobId> moved;
  if (std::exchange(changed_, false)) {
    for (const JobId job : std::exchange(asking_, {})) moved.push_back(job);
  }
  return moved;
}

}  // namespace tidepool::policies::cluster
