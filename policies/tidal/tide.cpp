#include "policies/tidal/tide.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::policies::tidal {
namespace {

// When a job that holds nothing will have waited for one step more.
Instant next_step(const cluster::JobRow& job, Instant now, const Waiting& waiting) {
  const std::int64_t next = steps_waited(job, now, waiting) + 1;
  return job.submitted + job.held + Duration::micros(next * waiting.step.count_us());
}

}  // namespace

Tide::Tide(const Ground& ground, const Settings& settings)
    : settings_(settings),
      ground_(ground),
      others_(Standing::kClasses),
      in_class_(Standing::kClasses),
      market_(ground.slots) {}

void Tide::set_ground(const Ground& ground) {
  ground_ = ground;
  market_.set_slots(ground.slots);
  for (auto& [job, entry] : entries_) {
    entry.worth.reset();
    put_.insert(job);
  }
}

void Tide::enter_class(JobId job, Entry& entry) {
  std::vector<JobId>& members = in_class_[entry.standing];
  entry.place = members.size();
  members.push_back(job);
  standing_.add(entry.standing, entry.in_turn);
  classes_moved_ = true;
}

// The last one of the class takes its place.
void Tide::leave_class(const Entry& entry) {
  std::vector<JobId>& members = in_class_[entry.standing];
  entries_.at(members.back()).place = entry.place;
  members[entry.place] = members.back();
  members.pop_back();
  standing_.remove(entry.standing, entry.in_turn);
  classes_moved_ = true;
}

void Tide::put(cluster::JobRow job, Instant at, int promised) {
  const JobId id = job.id;
  Entry& entry = entries_[id];
  const bool is_known = entry.row.id == id;
  entry.row = std::move(job);
  entry.at = at;
  entry.promised = promised;
  entry.worth.reset();
  const Length length = length_of(entry.row, settings_);
  entry.waiting = waiting_of(length, settings_);
  const Standing::Class standing = Standing::class_of(length.seconds);
  if (!is_known || standing != entry.standing || length.in_turn != entry.in_turn) {
    if (is_known) leave_class(entry);
    entry.standing = standing;
    entry.in_turn = length.in_turn;
    enter_class(id, entry);
  }
  if (entry.row.placement.empty()) {
    due_.set(id, next_step(entry.row, at, entry.waiting));
  } else {
    due_.erase(id);
  }
  put_.insert(id);
}

void Tide::leave(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  due_.erase(job);
  leave_class(found->second);
  entries_.erase(found);
  market_.leave(job);
}

IdSet<JobId> Tide::to_be_weighed(Instant now) {
  IdSet<JobId> jobs = std::exchange(put_, {});
  if (std::exchange(classes_moved_, false)) {
    std::vector<Others> others = standing_.others(settings_.long_jobs);
    for (Standing::Class at = 0; at < Standing::kClasses; ++at) {
      if (others[at] != others_[at]) jobs.insert(in_class_[at].begin(), in_class_[at].end());
    }
    others_ = std::move(others);
  }
  const IdSet<JobId> due = due_.take(now);
  for (const JobId job : due) {
    Entry& entry = entries_.at(job);
    entry.at = now;
    due_.set(job, next_step(entry.row, now, entry.waiting));
  }
  jobs.insert(due);
  return jobs;
}

// Only a row that was put again, or another ground, makes a new worth.
Curve Tide::weigh(Entry& entry, Instant now) const {
  // One that holds slots does not wait: its row says for how long it did.
  const Instant waits_until = entry.row.placement.empty() ? now : entry.at;
  const Others& others = others_[entry.standing];
  if (entry.worth) {
    entry.worth->reweigh(others, waits_until);
  } else {
    Ground ground = ground_;
    ground.now = waits_until;
    entry.worth.emplace(entry.row, ground, others, settings_);
  }
  return entry.worth->curve(entry.promised);
}

Market::Settlement Tide::settle(Instant now, core::StepBudget& budget) {
  std::vector<std::pair<JobId, Curve>> bids;
  const IdSet<JobId> jobs = to_be_weighed(now);
  bids.reserve(jobs.size());
  for (const JobId job : jobs) {
    const auto entry = entries_.find(job);
    if (entry != entries_.end()) bids.emplace_back(job, weigh(entry->second, now));
  }
  budget.spend(static_cast<std::int64_t>(bids.size()));
  market_.bid(std::move(bids));
  return market_.settle(budget);
}

Market::Settlement Tide::settle_without(const IdSet<JobId>& jobs, core::StepBudget& budget) {
  for (const JobId job : jobs) market_.bid(job, Curve{Choice{}});
  put_.insert(jobs);
  return market_.settle(budget);
}

}  // namespace tidepool::policies::tidal
