#include "policies/tidal/promise_book.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tidepool::policies::tidal {
namespace {

constexpr std::size_t kFewDeadlines = 64;                      // up to this many deadlines are checked at each plan
constexpr Duration kRoundEvery = Duration::seconds(60);        // else
constexpr std::int64_t kLooksOfRound = std::int64_t{1} << 18;  // of a round
constexpr std::int64_t kStepsOfRound = std::numeric_limits<std::int64_t>::max();

bool is_accepted(const core::Mark& mark) {
  return mark.level == kAccepted;
}

}  // namespace

void PromiseBook::put(const cluster::JobRow& row, Instant at) {
  leave(row.id);
  if (has_promise(row)) {
    entries_[row.id] = {.row = row, .at = at, .mark = row.mark};
  } else if (const int kept = kept_by(row); kept > 0) {
    kept_[row.id] = kept;
    kept_slots_ += kept;
  }
}

void PromiseBook::leave(JobId job) {
  entries_.erase(job);
  const auto kept = kept_.find(job);
  if (kept == kept_.end()) return;
  kept_slots_ -= kept->second;
  kept_.erase(kept);
}

void PromiseBook::clear() {
  entries_ = {};
  kept_ = {};
  kept_slots_ = 0;
}

bool PromiseBook::is_due(const NewestPlan& newest, Instant now) const {
  const core::Mark& mark = newest.mark;
  if (entries_.size() <= kFewDeadlines || mark.level != kAccepted || newest.nodes_changed) return true;
  const bool size_changes = !mark.numbers.empty() && now.count_us() >= static_cast<std::int64_t>(mark.numbers.front());
  return size_changes || now >= mark.since + kRoundEvery;
}

IdSet<JobId> PromiseBook::renew(const NewestPlan& newest, const SlotPool& pool) {
  if (entries_.empty()) {
    of_plan_ = {};
    is_ahead_ = false;
    return {};
  }
  if (is_due(newest, pool.now)) {
    is_ahead_ = true;
    return make_round(pool);
  }
  of_plan_ = newest.mark;
  return std::exchange(is_ahead_, false) ? go_by_marks() : IdSet<JobId>();
}

IdSet<JobId> PromiseBook::make_round(const SlotPool& pool) {
  Asking asking{.jobs = {}, .pool = pool, .room = pool.slots - kept_slots_, .looks = kLooksOfRound};
  asking.jobs.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) asking.jobs.push_back(&entry.row);
  core::StepBudget budget(kStepsOfRound);
  const Promises promises = promises_of(asking, budget);
  IdSet<JobId> changed;
  std::size_t at = 0;
  for (auto& [id, entry] : entries_) {
    core::Mark mark;
    if (promises.accepted[at]) {
      const Instant since = is_accepted(entry.row.mark) ? entry.row.mark.since : pool.now;
      mark = {.level = kAccepted, .since = since, .numbers = {double(promises.sizes[at])}};
    } else if (promises.declined[at]) {
      mark.numbers = {promises.late[at].beside_s, promises.late[at].alone_s};
    } else {
      mark = {.level = entry.row.mark.level, .since = entry.row.mark.since, .numbers = {0}};
    }
    if (std::exchange(entry.mark, mark) != mark) changed.insert(id);
    ++at;
  }
  of_plan_ = {.level = kAccepted, .since = pool.now, .numbers = {}};
  if (promises.change) of_plan_.numbers.push_back(double(promises.change->count_us()));
  return changed;
}

IdSet<JobId> PromiseBook::go_by_marks() {
  IdSet<JobId> changed;
  for (auto& [id, entry] : entries_) {
    if (entry.mark == entry.row.mark) continue;
    entry.mark = entry.row.mark;
    changed.insert(id);
  }
  return changed;
}

core::Mark PromiseBook::mark(JobId job) const {
  const auto found = entries_.find(job);
  return found == entries_.end() ? core::Mark() : found->second.mark;
}

PromiseBook::Bidder PromiseBook::bidder(JobId job) const {
  const Entry& entry = entries_.at(job);
  Bidder bidder{.row = entry.row, .at = entry.at};
  if (!is_accepted(entry.mark) && entry.mark.numbers.size() != 1) bidder.row.deadline.reset();
  if (is_accepted(entry.mark) && !entry.mark.numbers.empty()) {
    bidder.promised = std::min(static_cast<int>(entry.mark.numbers.front()), entry.row.size_max);
  }
  return bidder;
}

std::optional<Lateness> PromiseBook::lateness(const core::Mark& mark) {
  if (mark.level != 0 || mark.numbers.size() != 2) return std::nullopt;
  return Lateness{.beside_s = mark.numbers[0], .alone_s = mark.numbers[1]};
}

std::optional<Instant> PromiseBook::wake() const {
  if (of_plan_.level != kAccepted || of_plan_.numbers.empty()) return std::nullopt;
  return Instant::from_micros(static_cast<std::int64_t>(of_plan_.numbers.front()));
}

}  // namespace tidepool::policies::tidal
