#include "policies/tidal/tide.hpp"

#include <algorithm>

namespace tidepool::policies::tidal {
namespace {

// When a job that holds nothing will have waited for the next eighth of the patience.
Instant next_eighth(const cluster::JobRow& job, Instant now, const Settings& settings) {
  const std::int64_t next = eighths_waited(job, now, settings) + 1;
  return job.submitted + job.held + Duration::micros(next * an_eighth(settings).count_us());
}

}  // namespace

Tide::Tide(const Ground& ground, const Settings& settings)
    : settings_(settings), ground_(ground), others_(Standing::kClasses), market_(ground.slots) {}

void Tide::set_ground(const Ground& ground) {
  ground_ = ground;
  market_.set_slots(ground.slots);
  for (const auto& [job, entry] : entries_) put_.insert(put_.end(), job);
}

void Tide::forget(JobId job, const Entry& entry) {
  standing_.remove(entry.standing);
  in_class_[entry.standing].erase(job);
  if (entry.row.placement.empty()) due_.erase({next_eighth(entry.row, entry.at, settings_), job});
}

void Tide::put(const cluster::JobRow& job, Instant at, int promised) {
  Entry& entry = entries_[job.id];
  if (entry.row.id == job.id) forget(job.id, entry);
  entry.row = job;
  entry.at = at;
  entry.promised = promised;
  entry.standing = Standing::class_of(seconds_left(job, settings_));
  entry.worth.reset();
  standing_.add(entry.standing);
  in_class_[entry.standing].insert(job.id);
  if (job.placement.empty()) due_.emplace(next_eighth(job, at, settings_), job.id);
  put_.insert(job.id);
}

void Tide::leave(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  forget(job, found->second);
  entries_.erase(found);
  put_.erase(job);
  market_.leave(job);
}

std::set<JobId> Tide::to_be_weighed(Instant now) {
  std::set<JobId> jobs = std::move(put_);
  put_.clear();
  std::vector<Others> others = standing_.others(settings_.long_jobs);
  for (const auto& [standing, members] : in_class_) {
    if (others[standing] != others_[standing]) jobs.insert(members.begin(), members.end());
  }
  others_ = std::move(others);
  while (!due_.empty() && due_.begin()->first <= now) {
    const JobId job = due_.begin()->second;
    due_.erase(due_.begin());
    Entry& entry = entries_.at(job);
    entry.at = now;
    due_.emplace(next_eighth(entry.row, now, settings_), job);
    jobs.insert(job);
  }
  return jobs;
}

const Worth& Tide::weigh(Entry& entry, Instant now) const {
  Ground ground = ground_;
  // One that holds slots does not wait: its row says for how long it did.
  ground.now = entry.row.placement.empty() ? now : entry.at;
  entry.worth = std::make_unique<const Worth>(entry.row, ground, others_[entry.standing], settings_);
  return *entry.worth;
}

Market::Settlement Tide::settle(Instant now, core::StepBudget& budget) {
  const std::set<JobId> jobs = to_be_weighed(now);
  if (jobs.size() == entries_.size()) {
    std::vector<std::pair<JobId, Curve>> bids;
    bids.reserve(jobs.size());
    for (auto& [job, entry] : entries_) bids.emplace_back(job, weigh(entry, now).curve(entry.promised));
    market_.reset(std::move(bids));
  } else {
    for (const JobId job : jobs) {
      Entry& entry = entries_.at(job);
      market_.bid(job, weigh(entry, now).curve(entry.promised));
    }
  }
  budget.spend(static_cast<std::int64_t>(jobs.size()));
  return market_.settle(budget);
}

}  // namespace tidepool::policies::tidal
