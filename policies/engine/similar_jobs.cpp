#include "policies/engine/similar_jobs.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies::cluster {
namespace {

// None: it was never measured.
std::optional<double> pace_of(std::int64_t global_batch, const JobSpeed& speed) {
  if (speed.largest_measured() == 0) return std::nullopt;
  const double pace_s = speed.step_seconds({}) / double(global_batch);
  if (!(pace_s > 0) || !std::isfinite(pace_s)) return std::nullopt;
  return pace_s;
}

}  // namespace

SimilarJobs::Progress SimilarJobs::progress_of(const core::Job& job) {
  Progress progress{.job = job.id, .samples = job.progress.samples, .global_batch = job.spec.batch.global};
  progress.slot_type = job.measurements.slot_type;
  if (job.state() == core::JobState::kSucceeded) {
    TP_CHECK(job.phase.ended_at(), "a job that has succeeded has ended at some time");
    progress.succeeded_at = job.phase.ended_at();
  }
  return progress;
}

SimilarJobs::Progress SimilarJobs::progress_of(const core::EndedJob& job) {
  Progress progress{.job = job.id, .samples = job.samples_done, .global_batch = job.global_batch};
  progress.slot_type = job.slot_type;
  if (job.state == core::JobState::kSucceeded) progress.succeeded_at = job.finished_at;
  return progress;
}

void SimilarJobs::tell(const Progress& job, const JobSpeed& speed) {
  const auto pace_s = pace_of(job.global_batch, speed);
  const bool counts = pace_s && job.samples > 0;
  for (auto& [type, work] : by_type_) {
    if (!counts || type != job.slot_type) work.withdraw(job.job.number());
  }
  if (!counts) return;
  const SimilarJobWork::Class pace = SimilarJobWork::class_of(*pace_s);
  const double samples = double(job.samples);
  by_type_[job.slot_type].reached(job.job.number(), pace, samples);
  if (job.succeeded_at) {
    note_end(job.job, *job.succeeded_at, {.slot_type = job.slot_type, .pace = pace, .samples = samples});
  }
}

void SimilarJobs::withdraw(JobId job) {
  for (auto& [type, work] : by_type_) work.withdraw(job.number());
  const auto known = ended_at_.find(job);
  if (known == ended_at_.end()) return;
  ended_.erase({known->second, job});
  ended_at_.erase(known);
  forget_ends();
}

void SimilarJobs::forget_ends() {
  in_order_ = false;
  for (auto& [type, work] : by_type_) work.forget_ends();
}

// Facts come in their order; after a start, jobs are followed in order of their ids.
void SimilarJobs::note_end(JobId job, Instant at, const Ended& ended) {
  const auto [place, is_new] = ended_.emplace(std::pair(at, job), ended);
  if (!is_new) return;
  ended_at_.emplace(job, at);
  if (std::next(place) != ended_.end()) forget_ends();
  if (in_order_) by_type_[ended.slot_type].ended(ended.pace, ended.samples);
}

void SimilarJobs::report_ends() {
  if (in_order_) return;
  for (const auto& [turn, ended] : ended_) by_type_[ended.slot_type].ended(ended.pace, ended.samples);
  in_order_ = true;
}

SimilarJobs::Classes SimilarJobs::classes_of(const std::string& slot_type, double pace_s,
                                             const TypeRatios& ratios) const {
  Classes classes;
  for (const auto& [type, work] : by_type_) {
    classes.emplace(type, SimilarJobWork::class_of(pace_s / ratios.ratio(type, slot_type).value_or(1)));
  }
  return classes;
}

// Requires: its own type is among its classes.
const std::string& SimilarJobs::type_with_kin(const Asker& asker) const {
  const auto ended_on = [&](const std::string& type) { return by_type_.at(type).ended_kin(asker.classes.at(type)); };
  const std::string* most = &asker.slot_type;
  if (ended_on(*most) > 0) return *most;
  for (const auto& [type, pace] : asker.classes) {
    if (ended_on(type) > ended_on(*most)) most = &type;
  }
  return *most;
}

std::optional<double> SimilarJobs::expect(const core::Job& job, const JobSpeed& speed, const TypeRatios& ratios) {
  forget(job.id);
  const auto pace_s = pace_of(job.spec.batch.global, speed);
  if (!pace_s) return std::nullopt;
  report_ends();
  const std::string& own = job.measurements.slot_type;
  by_type_.try_emplace(own);
  const Asker& asker = askers_[job.id] = {own, *pace_s, classes_of(own, *pace_s, ratios)};
  for (const auto& key : asker.classes) asking_[key].insert(job.id);
  const auto left_on = [&](const std::string& type) {
    return by_type_.at(type).left(asker.classes.at(type), double(job.progress.samples));
  };
  std::optional<double> left = left_on(type_with_kin(asker));
  for (auto other = asker.classes.begin(); !left && other != asker.classes.end(); ++other) left = left_on(other->first);
  return left;
}

void SimilarJobs::forget(JobId job) {
  const auto found = askers_.find(job);
  if (found == askers_.end()) return;
  for (const auto& key : found->second.classes) {
    const auto asking = asking_.find(key);
    asking->second.erase(job);
    if (asking->second.empty()) asking_.erase(asking);
  }
  askers_.erase(found);
}

void SimilarJobs::forget_all() {
  asking_.clear();
  askers_.clear();
}

std::vector<JobId> SimilarJobs::take_moved(const TypeRatios& ratios) {
  std::set<JobId> moved;
  bool all = false;  // a type that is new since some have asked, too, answers from then on
  for (auto& [type, work] : by_type_) {
    const SimilarJobWork::Changes changes = work.take_changes();
    all = all || changes.all;
    for (const SimilarJobWork::Class pace : changes.classes) {
      if (const auto asking = asking_.find({type, pace}); asking != asking_.end()) {
        moved.insert(asking->second.begin(), asking->second.end());
      }
    }
  }
  const bool are_new = std::exchange(ratios_seen_, ratios.revision()) != ratios.revision() && by_type_.size() > 1;
  const auto has_turned = [&](const Asker& asker) {
    return all || classes_of(asker.slot_type, asker.pace_s, ratios) != asker.classes;
  };
  if (all || are_new) {
    for (const auto& [job, asker] : askers_) {
      if (has_turned(asker)) moved.insert(job);
    }
  }
  for (const JobId job : moved) forget(job);
  return {moved.begin(), moved.end()};
}

}  // namespace tidepool::policies::cluster
