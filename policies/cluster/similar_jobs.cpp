#include "policies/cluster/similar_jobs.hpp"

#include <cmath>
#include <iterator>

#include "base/check.hpp"

namespace tidepool::policies::cluster {
namespace {

// None: it was never measured.
std::optional<KinWork::Class> pace_class_of(std::int64_t global_batch, const JobSpeed& speed) {
  if (speed.largest_measured() == 0) return std::nullopt;
  const double pace_s = speed.step_seconds({}) / double(global_batch);
  if (!(pace_s > 0) || !std::isfinite(pace_s)) return std::nullopt;
  return KinWork::class_of(pace_s);
}

}  // namespace

SimilarJobs::Progress SimilarJobs::progress_of(const core::Job& job) {
  Progress progress{.job = job.id, .samples = job.progress.samples, .global_batch = job.spec.batch.global};
  if (job.state() == core::JobState::kSucceeded) {
    TP_CHECK(job.phase.ended_at(), "a job that has succeeded has ended at some time");
    progress.succeeded_at = job.phase.ended_at();
  }
  return progress;
}

SimilarJobs::Progress SimilarJobs::progress_of(const core::EndedJob& job) {
  Progress progress{.job = job.id, .samples = job.samples_done, .global_batch = job.global_batch};
  if (job.state == core::JobState::kSucceeded) progress.succeeded_at = job.finished_at;
  return progress;
}

void SimilarJobs::tell(const Progress& job, const JobSpeed& speed) {
  const auto pace = pace_class_of(job.global_batch, speed);
  if (!pace || job.samples <= 0) {
    work_.withdraw(job.job.number());
    return;
  }
  const double samples = double(job.samples);
  work_.reached(job.job.number(), *pace, samples);
  if (job.succeeded_at) note_end(job.job, *job.succeeded_at, {.pace = *pace, .samples = samples});
}

void SimilarJobs::withdraw(JobId job) {
  work_.withdraw(job.number());
  const auto known = ended_at_.find(job);
  if (known == ended_at_.end()) return;
  ended_.erase({known->second, job});
  ended_at_.erase(known);
  in_order_ = false;
  work_.forget_ends();
}

// Facts come in their order; after a start, jobs are told by their ids.
void SimilarJobs::note_end(JobId job, Instant at, const Ended& ended) {
  const auto [place, is_new] = ended_.emplace(std::pair(at, job), ended);
  if (!is_new) return;
  ended_at_.emplace(job, at);
  if (std::next(place) != ended_.end()) {
    in_order_ = false;
    work_.forget_ends();
  }
  if (in_order_) work_.ended(ended.pace, ended.samples);
}

std::optional<double> SimilarJobs::expect(const core::Job& job, const JobSpeed& speed) {
  forget(job.id);
  const auto pace = pace_class_of(job.spec.batch.global, speed);
  if (!pace) return std::nullopt;
  asking_[*pace].insert(job.id);
  pace_of_.emplace(job.id, *pace);
  if (!in_order_) {
    for (const auto& [turn, ended] : ended_) work_.ended(ended.pace, ended.samples);
    in_order_ = true;
  }
  return work_.left(*pace, double(job.progress.samples));
}

void SimilarJobs::forget(JobId job) {
  const auto found = pace_of_.find(job);
  if (found == pace_of_.end()) return;
  const auto asking = asking_.find(found->second);
  asking->second.erase(job);
  if (asking->second.empty()) asking_.erase(asking);
  pace_of_.erase(found);
}

void SimilarJobs::forget_all() {
  asking_.clear();
  pace_of_.clear();
}

std::vector<JobId> SimilarJobs::take_moved() {
  const KinWork::Changes changes = work_.take_changes();
  std::vector<JobId> moved;
  const auto move = [&](std::map<KinWork::Class, std::set<JobId>>::iterator asking) {
    moved.insert(moved.end(), asking->second.begin(), asking->second.end());
    for (const JobId job : asking->second) pace_of_.erase(job);
    return asking_.erase(asking);
  };
  for (const KinWork::Class pace : changes.classes) {
    if (const auto asking = asking_.find(pace); asking != asking_.end()) move(asking);
  }
  for (auto asking = asking_.begin(); changes.all && asking != asking_.end();) asking = move(asking);
  return moved;
}

}  // namespace tidepool::policies::cluster
