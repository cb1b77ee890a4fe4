#include "policies/cluster/kin_of_jobs.hpp"

#include <cmath>
#include <iterator>

#include "base/check.hpp"

namespace tidepool::policies::cluster {
namespace {

// None: it was never measured.
std::optional<KinWork::Class> pace_class_of(const core::Job& job, const JobSpeed& speed) {
  if (speed.largest_measured() == 0) return std::nullopt;
  const double pace_s = speed.step_seconds({}) / double(job.spec.batch.global);
  if (!(pace_s > 0) || !std::isfinite(pace_s)) return std::nullopt;
  return KinWork::class_of(pace_s);
}

}  // namespace

void KinOfJobs::tell(const core::Job& job, const JobSpeed& speed) {
  const auto pace = pace_class_of(job, speed);
  if (!pace || job.samples_done <= 0) {
    work_.withdraw(job.id.number());
    return;
  }
  const double samples = double(job.samples_done);
  work_.reached(job.id.number(), *pace, samples);
  if (job.state == core::JobState::kSucceeded) note_end(job, {.pace = *pace, .samples = samples});
}

// Facts come in their order; after a start, jobs are told by their ids.
void KinOfJobs::note_end(const core::Job& job, const Ended& ended) {
  TP_CHECK(job.finished_at, "a job that has succeeded has ended at some time");
  const auto [at, is_new] = ended_.emplace(std::pair(*job.finished_at, job.id), ended);
  if (!is_new) return;
  if (std::next(at) != ended_.end()) {
    in_order_ = false;
    work_.forget_ends();
  }
  if (in_order_) work_.ended(ended.pace, ended.samples);
}

std::optional<double> KinOfJobs::expect(const core::Job& job, const JobSpeed& speed) {
  forget(job.id);
  const auto pace = pace_class_of(job, speed);
  if (!pace) return std::nullopt;
  asking_[*pace].insert(job.id);
  pace_of_.emplace(job.id, *pace);
  if (!in_order_) {
    for (const auto& [turn, ended] : ended_) work_.ended(ended.pace, ended.samples);
    in_order_ = true;
  }
  return work_.left(*pace, double(job.samples_done));
}

void KinOfJobs::forget(JobId job) {
  const auto found = pace_of_.find(job);
  if (found == pace_of_.end()) return;
  const auto asking = asking_.find(found->second);
  asking->second.erase(job);
  if (asking->second.empty()) asking_.erase(asking);
  pace_of_.erase(found);
}

void KinOfJobs::forget_all() {
  asking_.clear();
  pace_of_.clear();
}

std::vector<JobId> KinOfJobs::take_moved() {
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
