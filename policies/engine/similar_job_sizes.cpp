#include "policies/engine/similar_job_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/state/job_kind.hpp"
#include "policies/engine/job_speed.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr std::int64_t kStepsJudged = 20;  // as jobs ask by default (scaling.every_steps)
constexpr double kPartsOfMeans = 32;
constexpr std::int64_t kManyJobs = 16;
constexpr double kLongestStep = 1e4;   // seconds; with it and the largest batch sums stay exact
constexpr double kLargestBatch = 1e9;  // samples

double in_parts(double value) {
  return std::exp2(std::round(std::log2(value) * kPartsOfMeans) / kPartsOfMeans);
}

}  // namespace

SimilarJobSizes::Mean SimilarJobSizes::mean_of(const Sum& sum) {
  if (sum.jobs == 0) return {};
  const double jobs = double(sum.jobs);
  return {.step_seconds = in_parts(double(sum.step_ns) / jobs * 1e-9),
          .batch = in_parts(double(sum.batch) / jobs * 1e-3),
          .jobs = std::min(sum.jobs, kManyJobs)};
}

SimilarJobSizes::BySize SimilarJobSizes::sums_of(const Sizes& sizes) {
  BySize sums;
  for (const auto& [size, record] : sizes) {
    if (!was_measured(record) || record.steps < kStepsJudged) continue;
    const double batch = record.samples_per_second * record.step_seconds;
    sums.emplace(
        size, Sum{.step_ns = std::max<std::int64_t>(1, std::llround(std::min(record.step_seconds, kLongestStep) * 1e9)),
                  .batch = std::max<std::int64_t>(1, std::llround(std::min(batch, kLargestBatch) * 1e3)),
                  .jobs = 1});
  }
  return sums;
}

void SimilarJobSizes::tell(const core::Job& job) {
  Contribution now{.kind = core::kind_of(job.spec), .by_type = {}};
  if (now.kind != 0) {
    now.by_type.emplace(job.measurements.slot_type, sums_of(job.measurements.sizes));
    for (const auto& [type, records] : job.measurements.on_other_types)
      now.by_type.emplace(type, sums_of(records.sizes));
  }
  tell(job.id, std::move(now));
}

void SimilarJobSizes::tell(const core::EndedJob& job) {
  Contribution now{.kind = job.kind, .by_type = {}};
  if (now.kind != 0) {
    now.by_type.emplace(job.slot_type, sums_of(job.sizes));
    for (const auto& [type, sizes] : job.on_other_types) now.by_type.emplace(type, sums_of(sizes));
  }
  tell(job.id, std::move(now));
}

void SimilarJobSizes::tell(JobId job, Contribution now) {
  std::erase_if(now.by_type, [](const auto& entry) { return entry.second.empty(); });
  const auto before = contributions_.find(job);
  if (before == contributions_.end() ? now.by_type.empty() : before->second == now) return;
  Means means;
  if (before != contributions_.end()) add(before->second, -1, means);
  add(now, 1, means);
  note_changes(means);
  if (now.by_type.empty()) {
    contributions_.erase(job);
  } else {
    contributions_.insert_or_assign(job, std::move(now));
  }
}

void SimilarJobSizes::withdraw(JobId job) {
  tell(job, Contribution());
}

// Adds to `means` what was told so far of the sums that it changes.
void SimilarJobSizes::add(const Contribution& contribution, int sign, Means& means) {
  for (const auto& [type, sizes] : contribution.by_type) {
    BySize& sums = kin_[contribution.kind].by_type[type];
    for (const auto& [size, one] : sizes) {
      Sum& sum = sums[size];
      means.try_emplace({contribution.kind, type, size}, mean_of(sum));
      sum.step_ns += sign * one.step_ns;
      sum.batch += sign * one.batch;
      sum.jobs += sign * one.jobs;
    }
  }
}

void SimilarJobSizes::note_changes(const Means& means) {
  for (const auto& [of, before] : means) {
    const auto& [kind, type, size] = of;
    Kin& kin = kin_.at(kind);
    BySize& sums = kin.by_type.at(type);
    const Sum& sum = sums.at(size);
    if (before != mean_of(sum) && !std::exchange(kin.changed, true)) changed_.push_back(kind);
    if (sum.jobs == 0) sums.erase(size);
    if (sums.empty()) kin.by_type.erase(type);
  }
}

// That on which most jobs were measured, where the job has not run on any.
const SimilarJobSizes::BySize* SimilarJobSizes::type_for(const Kin& kin, const std::string& slot_type) {
  const auto own = kin.by_type.find(slot_type);
  if (own != kin.by_type.end()) return &own->second;
  if (!slot_type.empty()) return nullptr;
  const BySize* best = nullptr;
  std::int64_t most = 0;
  for (const auto& [type, sizes] : kin.by_type) {
    std::int64_t jobs = 0;
    for (const auto& [size, sum] : sizes) jobs += std::min(sum.jobs, kManyJobs);
    if (jobs > most) best = &sizes;
    most = std::max(most, jobs);
  }
  return best;
}

SimilarJobSizes::Sizes SimilarJobSizes::expected(const core::Job& job) {
  forget(job.id);
  const Kind kind = core::kind_of(job.spec);
  if (kind == 0) return {};
  Kin& kin = kin_[kind];
  kin.asking.insert(job.id);
  asking_.emplace(job.id, kind);
  const BySize* sums = type_for(kin, job.measurements.slot_type);
  if (sums == nullptr) return {};
  const BySize own = sums_of(job.measurements.sizes);
  Sizes sizes;
  for (const auto& [size, sum] : *sums) {
    Mean mean = mean_of(sum);
    const auto mine = own.find(size);
    if (mine != own.end() && mean.jobs == 1) continue;
    if (mine != own.end() && mean.jobs < kManyJobs) {
      const double jobs = double(mean.jobs);
      const auto others = [&](double all, double one) {
        const double rest = (all * jobs - one) / (jobs - 1);
        return rest > 0 ? rest : all;
      };
      mean.step_seconds = others(mean.step_seconds, double(mine->second.step_ns) * 1e-9);
      mean.batch = others(mean.batch, double(mine->second.batch) * 1e-3);
    }
    sizes.emplace(size, core::SizeRecord{.steps = kStepsJudged,
                                         .step_seconds = mean.step_seconds,
                                         .samples_per_second = mean.batch / mean.step_seconds});
  }
  return sizes;
}

void SimilarJobSizes::forget(JobId job) {
  const auto found = asking_.find(job);
  if (found == asking_.end()) return;
  const auto kin = kin_.find(found->second);
  kin->second.asking.erase(job);
  if (kin->second.asking.empty() && kin->second.by_type.empty() && !kin->second.changed) kin_.erase(kin);
  asking_.erase(found);
}

void SimilarJobSizes::forget_all() {
  for (auto kin = kin_.begin(); kin != kin_.end();) {
    kin->second.asking = {};
    kin = kin->second.by_type.empty() && !kin->second.changed ? kin_.erase(kin) : std::next(kin);
  }
  asking_.clear();
}

std::vector<JobId> SimilarJobSizes::take_moved() {
  std::vector<JobId> moved;
  for (const Kind kind : std::exchange(changed_, {})) {
    const auto kin = kin_.find(kind);
    for (const JobId job : std::exchange(kin->second.asking, {})) {
      moved.push_back(job);
      asking_.erase(job);
    }
    kin->second.changed = false;
    if (kin->second.by_type.empty()) kin_.erase(kin);
  }
  return moved;
}

}  // namespace tidepool::policies::cluster
