#include "forecast/known_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/state/job_kind.hpp"
#include "core/state/job_state.hpp"

namespace tidepool::forecast {
namespace {

using policies::cluster::JobSpeed;
using policies::cluster::SimilarJobs;

constexpr std::size_t kEnoughEnded = 8;

// Of ascending ones the middle one of those that are longer than `held`, beyond that.
std::optional<double> middle_beyond(const std::vector<double>& all, double held) {
  const auto longer = std::upper_bound(all.begin(), all.end(), held);
  if (longer == all.end()) return std::nullopt;
  return *(longer + (all.end() - longer - 1) / 2) - held;
}

}  // namespace

KnownJobs::KnownJobs(const core::ClusterState& state) {
  for (const auto& [id, job] : state.ended) add_ended(*job);
  for (const auto& [id, job] : state.jobs) {
    JobSpeed speed(*job);
    kin_.tell(SimilarJobs::progress_of(*job), speed);
    if (!speed.is_known()) continue;
    add_speed({job->spec.tenant, job->spec.batch.global, job->spec.gpus_per_worker}, std::move(speed));
  }
  for (auto& [key, group] : groups_) std::sort(group.slot_seconds.begin(), group.slot_seconds.end());
  for (auto& [key, lengths] : by_program_) std::sort(lengths.begin(), lengths.end());
}

std::array<KnownJobs::Key, 4> KnownJobs::keys_of(const JobTraits& traits) {
  return {Key{traits.tenant, traits.batch, traits.gpus_per_worker}, Key{"", traits.batch, traits.gpus_per_worker},
          Key{"", 0, traits.gpus_per_worker}, Key{"", 0, 0}};
}

void KnownJobs::add_speed(const JobTraits& traits, JobSpeed speed) {
  for (const Key& key : keys_of(traits)) groups_[key].measured.push_back(speeds_.size());
  speeds_.push_back({std::move(speed), traits.gpus_per_worker});
}

void KnownJobs::add_ended(const core::EndedJob& job) {
  JobSpeed speed(job);
  kin_.tell(SimilarJobs::progress_of(job), speed);
  const JobTraits traits{job.tenant, job.global_batch, job.gpus_per_worker};
  if (job.state == core::JobState::kSucceeded) add_length(job, traits);
  if (speed.is_known()) add_speed(traits, std::move(speed));
}

void KnownJobs::add_length(const core::EndedJob& job, const JobTraits& traits) {
  const double held = job.slot_time.to_seconds();
  for (const Key& key : keys_of(traits)) {
    Group& group = groups_[key];
    group.slot_seconds.push_back(held);
    if (job.kind == 0) ++group.unnamed;
    if (job.kind != 0) group.kinds.insert(job.kind);
  }
  if (job.kind == 0) return;
  for (const std::string& tenant : std::set<std::string>{job.tenant, ""}) {
    by_program_[{job.kind, tenant}].push_back(held);
  }
}

double KnownJobs::middle_rate(const Group& group, int workers) const {
  std::vector<double> rates;
  rates.reserve(group.measured.size());
  for (const std::size_t at : group.measured) {
    const double step_s = speeds_[at].speed.step_seconds({.nodes = 1, .size = workers * speeds_[at].gpus_per_worker});
    rates.push_back(step_s > 0 ? 1 / step_s : 0);
  }
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

std::optional<double> KnownJobs::steps_per_second(const core::Job& job, int workers) {
  for (const Key& key : keys_of({job.spec.tenant, job.spec.batch.global, job.spec.gpus_per_worker})) {
    const auto found = groups_.find(key);
    if (found == groups_.end() || found->second.measured.empty()) continue;
    const auto [known, is_new] = found->second.rates.try_emplace(workers, 0);
    if (is_new) known->second = middle_rate(found->second, workers);
    if (known->second > 0) return known->second;
  }
  return std::nullopt;
}

std::optional<double> KnownJobs::slot_seconds_left(const core::Job& job) const {
  const double held = job.account.slot_time.to_seconds();
  for (const std::string& tenant : {job.spec.tenant, std::string()}) {
    const auto found = by_program_.find({core::kind_of(job.spec), tenant});
    if (found == by_program_.end() || found->second.size() < kEnoughEnded) continue;
    if (const auto left = middle_beyond(found->second, held)) return left;
  }
  for (const Key& key : keys_of({job.spec.tenant, job.spec.batch.global, job.spec.gpus_per_worker})) {
    const auto found = groups_.find(key);
    if (found == groups_.end()) continue;
    const Group& group = found->second;
    if (group.kinds.size() + group.unnamed < kEnoughEnded) continue;
    if (const auto left = middle_beyond(group.slot_seconds, held)) return left;
  }
  return std::nullopt;
}

std::optional<double> KnownJobs::samples_left(const core::Job& job, const JobSpeed& speed,
                                              const policies::cluster::TypeRatios& ratios) {
  return kin_.expect(job, speed, ratios);
}

}  // namespace tidepool::forecast
