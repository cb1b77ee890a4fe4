#include "policies/tidal/market_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidepool::policies::tidal {
namespace {

// If the remaining work equals that of this many longest jobs, weights below the level are raised half way.
constexpr double kLongJobs = 4;

}  // namespace

MarketState::MarketState(const SlotPool& pool)
    : pool_(pool), others_(RemainingWork::kClasses), in_class_(RemainingWork::kClasses), market_(pool.slots) {}

void MarketState::set_pool(const SlotPool& pool) {
  const SlotPool before = std::exchange(pool_, pool);
  const int bounds = pool.slots_per_node == before.slots_per_node ? std::min(pool.slots, before.slots) : 0;
  market_.set_slots(pool.slots);
  for (auto& [job, entry] : entries_) {
    if (entry.worth && entry.row.size_max <= bounds) {
      entry.worth->set_slots(pool.slots);
    } else {
      entry.worth.reset();
    }
    put_.insert(job);
  }
}

void MarketState::enter_class(JobId job, Entry& entry) {
  std::vector<JobId>& members = in_class_[entry.remaining_work];
  entry.place = members.size();
  members.push_back(job);
  remaining_work_.add(entry.remaining_work, entry.in_turn);
  classes_moved_ = true;
}

// The last one of the class takes its place.
void MarketState::leave_class(const Entry& entry) {
  std::vector<JobId>& members = in_class_[entry.remaining_work];
  entries_.at(members.back()).place = entry.place;
  members[entry.place] = members.back();
  members.pop_back();
  remaining_work_.remove(entry.remaining_work, entry.in_turn);
  classes_moved_ = true;
}

bool MarketState::is_bound(const Entry& entry) {
  const cluster::JobRow& row = entry.row;
  return row.resize_blocked && row.preemptible && row.pinned == 0 && entry.promised == 0 && !row.placement.empty();
}

void MarketState::forget_bound(const Entry& entry) {
  const auto alike = bound_.find(entry.row.priority);
  if (alike == bound_.end()) return;
  alike->second.erase(entry.row.id);
  if (alike->second.empty()) bound_.erase(alike);
}

void MarketState::put(cluster::JobRow job, Instant at, int promised) {
  const JobId id = job.id;
  Entry& entry = entries_[id];
  const bool is_known = entry.row.id == id;
  if (is_known) forget_bound(entry);
  entry.row = std::move(job);
  entry.at = at;
  entry.promised = promised;
  if (is_bound(entry)) bound_[entry.row.priority].insert(id);
  entry.worth.reset();
  const Length length = length_of(entry.row);
  const RemainingWork::Class remaining_work = RemainingWork::class_of(length.seconds);
  if (!is_known || remaining_work != entry.remaining_work || length.in_turn != entry.in_turn) {
    if (is_known) leave_class(entry);
    entry.remaining_work = remaining_work;
    entry.in_turn = length.in_turn;
    enter_class(id, entry);
  }
  if (!entry.row.placement.empty()) due_.erase(id);
  put_.insert(id);
}

void MarketState::leave(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  due_.erase(job);
  forget_bound(found->second);
  leave_class(found->second);
  entries_.erase(found);
  market_.leave(job);
}

IdSet<JobId> MarketState::to_be_weighed(Instant now) {
  IdSet<JobId> jobs = std::exchange(put_, {});
  if (std::exchange(classes_moved_, false)) {
    for (const auto& [at, others] : remaining_work_.others(kLongJobs)) {
      if (std::exchange(others_[at], others) != others) jobs.insert(in_class_[at].begin(), in_class_[at].end());
    }
  }
  jobs.insert(due_.take(now));
  return jobs;
}

// Only a row that was put again, or a pool that bounds its sizes otherwise, makes a new worth.
Curve MarketState::weigh(Entry& entry, Instant now) const {
  // One that holds slots does not wait: its row says for how long it did.
  const Instant waits_until = entry.row.placement.empty() ? now : entry.at;
  const Others& others = others_[entry.remaining_work];
  if (entry.worth) {
    entry.worth->reweigh(others, waits_until);
  } else {
    SlotPool pool = pool_;
    pool.now = waits_until;
    entry.worth.emplace(entry.row, pool, others);
  }
  return entry.worth->curve(entry.promised);
}

// Those that would go on at its price are not what it waits for.
bool MarketState::waits_for_bound(const Market::Short& job) const {
  std::int64_t room = job.left;
  const int priority = row(job.piece.job).priority;
  for (auto lower = bound_.begin(); lower != bound_.end() && lower->first < priority; ++lower) {
    for (const JobId id : lower->second) {
      const Entry& entry = entries_.at(id);
      room += size_of(entry.row.placement) - entry.worth->held_at(job.piece.slope);
      if (room >= job.needed) return true;
    }
  }
  return false;
}

// Jobs of a higher priority are not held up.
Market::MostBehind MarketState::keeps(const Market::Short& job) const {
  if (!waits_for_bound(job)) return {};
  return [this, priority = row(job.piece.job).priority](JobId behind) {
    const cluster::JobRow& other = row(behind);
    return other.priority > priority ? std::numeric_limits<int>::max() : size_of(other.placement);
  };
}

Market::Settlement MarketState::settle(Instant now, core::StepBudget& budget) {
  std::vector<std::pair<JobId, Curve>> bids;
  const IdSet<JobId> jobs = to_be_weighed(now);
  bids.reserve(jobs.size());
  for (const JobId job : jobs) {
    const auto entry = entries_.find(job);
    if (entry == entries_.end()) continue;
    bids.emplace_back(job, weigh(entry->second, now));
    if (entry->second.row.placement.empty()) due_.set(job, entry->second.worth->changes_after(now));
  }
  budget.spend(static_cast<std::int64_t>(bids.size()));
  market_.bid(std::move(bids));
  return market_.settle(budget, [this](const Market::Short& job) { return keeps(job); });
}

Market::Settlement MarketState::settle_without(const IdSet<JobId>& jobs, core::StepBudget& budget) {
  for (const JobId job : jobs) market_.bid(job, Curve{Choice{}});
  put_.insert(jobs);
  return market_.settle(budget, [this](const Market::Short& job) { return keeps(job); });
}

}  // namespace tidepool::policies::tidal
