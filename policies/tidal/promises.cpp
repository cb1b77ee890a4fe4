#include "policies/tidal/promises.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "policies/cluster/deadline_plan.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::DeadlinePlan;
using cluster::Demand;
using cluster::JobRow;
using cluster::SlotProfile;
using cluster::View;

constexpr std::int64_t kSlot = 60;                      // seconds: plans change sizes at its multiples
constexpr std::int64_t kLatenessMost = 365LL * 86'400;  // seconds; a longer one is not worked out
// Part of the time to its deadline that a job's plan leaves empty, for changes that cost more than they should.
constexpr double kDeadlineMargin = 0.02;
constexpr int kToldMost = 32;  // of how many it is worked out where looks are counted

bool is_accepted(const JobRow& job) {
  return job.mark.level == kAccepted || job.held > Duration() || !job.placement.empty();
}

class Planner {
 public:
  Planner(const Asking& asking, core::StepBudget& budget)
      : asking_(asking), budget_(budget), room_(std::max(0, asking.room)), looks_(asking.looks) {
    const std::size_t rows = asking.jobs.size();
    promises_ = {.sizes = std::vector<int>(rows, 0),
                 .accepted = std::vector<bool>(rows, false),
                 .declined = std::vector<bool>(rows, false),
                 .late = std::vector<Lateness>(rows),
                 .change = std::nullopt};
    plans_.resize(rows);
  }

  Promises make() && {
    std::vector<std::size_t> rows;  // accepted before, by deadline
    std::vector<std::size_t> new_jobs;
    for (std::size_t row = 0; row < asking_.jobs.size(); ++row) {
      demands_.push_back(demand_of(*asking_.jobs[row]));
      (is_accepted(*asking_.jobs[row]) ? rows : new_jobs).push_back(row);
    }
    set_slot();
    rows = keepable(by_deadline(std::move(rows)));
    new_jobs = least_first(std::move(new_jobs));
    std::size_t asked = 0;
    for (; asked < new_jobs.size() && looks_ > 0; ++asked) admit(new_jobs[asked], rows);
    (void)plan_all(rows);
    SlotProfile left = what_is_left(rows);
    for (; asked < new_jobs.size(); ++asked) admit_beside(new_jobs[asked], rows, left);
    for (const std::size_t row : rows) promise(row);
    measure_lateness(left);
    return std::move(promises_);
  }

 private:
  // Plans of this many jobs until the last deadline stay within the number of looks.
  void set_slot() {
    std::int64_t last_s = 0;
    for (const Demand& demand : demands_) last_s = std::max(last_s, demand.deadline_s);
    const double steps = double(last_s) / double(kSlot) * double(demands_.size());
    slot_s_ = kSlot * std::max<std::int64_t>(1, std::llround(std::ceil(steps / double(asking_.looks))));
  }

  // If it and all that are accepted end in time.
  void admit(std::size_t row, std::vector<std::size_t>& rows) {
    std::vector<std::size_t> with = rows;
    with.push_back(row);
    with = by_deadline(std::move(with));
    if (!demands_[row].levels.empty() && plan_all(with)) {
      rows = std::move(with);
    } else {
      promises_.declined[row] = true;
    }
  }

  // If it ends in time and no plan of another changes.
  void admit_beside(std::size_t row, std::vector<std::size_t>& rows, SlotProfile& left) {
    promises_.declined[row] = true;
    if (demands_[row].levels.empty()) return;
    plans_[row] = plan_for(demands_[row], left, slot_s_);
    if (!plans_[row].in_time) return;
    left.take(plans_[row].stretches, plans_[row].frees_s);
    promises_.declined[row] = false;
    rows.push_back(row);
  }

  [[nodiscard]] Demand demand_of(const JobRow& job) const {
    Demand demand;
    for (const int size : sizes_weighed(job, asking_.pool)) {
      const double speed = job.speed->goodput(cluster::packed(size, asking_.pool.slots_per_node));
      const bool faster = demand.levels.empty() || speed > demand.levels.back().speed;
      if (speed > 0 && std::isfinite(speed) && faster) demand.levels.push_back({.size = size, .speed = speed});
    }
    demand.steps_left = std::max(*job.useful_left, 1e-9);
    const double until_s = (*job.deadline - asking_.pool.now).to_seconds() - job.transition.to_seconds();
    demand.deadline_s = static_cast<std::int64_t>(std::floor(until_s * (1 - kDeadlineMargin)));
    return demand;
  }

  [[nodiscard]] std::vector<std::size_t> by_deadline(std::vector<std::size_t> rows) const {
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(demands_[a].deadline_s, a) < std::pair(demands_[b].deadline_s, b);
    });
    return rows;
  }

  // By the slot time that each takes alone.
  [[nodiscard]] std::vector<std::size_t> least_first(std::vector<std::size_t> rows) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t row : rows) {
      double least = 0;
      if (!demands_[row].levels.empty()) {
        const DeadlinePlan alone = plan_for(demands_[row], SlotProfile(room_), slot_s_);
        least = slot_seconds(alone.stretches, alone.frees_s);
      }
      order.emplace_back(least, row);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = order[i].second;
    return rows;
  }

  // Whether all of them end in time.
  bool plan_all(const std::vector<std::size_t>& rows) {
    SlotProfile free(room_);
    for (const std::size_t row : rows) {
      budget_.spend(static_cast<std::int64_t>(free.steps().size()));
      looks_ -= static_cast<std::int64_t>(free.steps().size());
      plans_[row] = plan_for(demands_[row], free, slot_s_);
      if (!plans_[row].in_time) return false;
      free.take(plans_[row].stretches, plans_[row].frees_s);
    }
    return true;
  }

  // Without those that have fallen behind: they break their own promise, not that of others.
  [[nodiscard]] std::vector<std::size_t> keepable(const std::vector<std::size_t>& rows) {
    SlotProfile free(room_);
    std::vector<std::size_t> kept;
    for (const std::size_t row : rows) {
      if (demands_[row].levels.empty()) continue;
      const DeadlinePlan plan = plan_for(demands_[row], free, slot_s_);
      if (!plan.in_time) continue;
      free.take(plan.stretches, plan.frees_s);
      kept.push_back(row);
    }
    return kept;
  }

  [[nodiscard]] SlotProfile what_is_left(const std::vector<std::size_t>& promised) const {
    SlotProfile left(room_);
    for (const std::size_t row : promised) left.take(plans_[row].stretches, plans_[row].frees_s);
    return left;
  }

  void measure_lateness(const SlotProfile& left) {
    int told = 0;
    for (std::size_t row = 0; row < demands_.size(); ++row) {
      if (!promises_.declined[row] || demands_[row].levels.empty()) continue;
      if (asking_.looks != Asking::kAllLooks && ++told > kToldMost) return;
      promises_.late[row] = {.beside_s = lateness(demands_[row], left),
                             .alone_s = lateness(demands_[row], SlotProfile(room_))};
    }
  }

  // By the earliest deadline that there is a plan for, to a slot.
  [[nodiscard]] double lateness(Demand demand, const SlotProfile& free) {
    const std::int64_t asked_s = demand.deadline_s;
    const auto in_time = [&](std::int64_t late_s) {
      budget_.spend(static_cast<std::int64_t>(free.steps().size()));
      demand.deadline_s = asked_s + late_s;
      return plan_for(demand, free, slot_s_).in_time;
    };
    if (in_time(0)) return 0;
    std::int64_t enough = slot_s_;
    while (!in_time(enough)) {
      if (enough > kLatenessMost) return -1;
      enough *= 2;
    }
    std::int64_t short_of = enough / 2;
    while (enough - short_of > slot_s_) {
      const std::int64_t middle = (short_of + enough) / 2;
      (in_time(middle) ? enough : short_of) = middle;
    }
    return double(enough) / (1 - kDeadlineMargin);
  }

  void promise(std::size_t row) {
    promises_.accepted[row] = true;
    promises_.sizes[row] = plans_[row].size_now();
    if (plans_[row].stretches.size() < 2) return;
    const Instant change = asking_.pool.now + Duration::seconds(plans_[row].stretches[1].from_s);
    if (!promises_.change || change < *promises_.change) promises_.change = change;
  }

  const Asking& asking_;
  core::StepBudget& budget_;
  int room_;  // slots that can be promised
  std::int64_t looks_;
  std::int64_t slot_s_ = kSlot;
  Promises promises_;
  std::vector<Demand> demands_;      // by row
  std::vector<DeadlinePlan> plans_;  // by row
};

}  // namespace

bool has_promise(const JobRow& job) {
  return job.deadline && job.useful_left;
}

int kept_by(const JobRow& job) {
  if (job.resize_blocked) return size_of(job.placement);
  return job.preemptible || job.placement.empty() ? 0 : std::min(size_of(job.placement), job.size_min);
}

Promises promises_of(const Asking& asking, core::StepBudget& budget) {
  return Planner(asking, budget).make();
}

Promises promises_of(const View& view, core::StepBudget& budget) {
  Asking asking{.jobs = {}, .pool = pool_of(view), .room = view.slots()};
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    if (has_promise(view.jobs[row])) {
      asking.jobs.push_back(&view.jobs[row]);
      rows.push_back(row);
    } else {
      asking.room -= kept_by(view.jobs[row]);
    }
  }
  if (rows.empty()) return {};
  const Promises made = promises_of(asking, budget);
  Promises promises{.sizes = std::vector<int>(view.jobs.size(), 0),
                    .accepted = std::vector<bool>(view.jobs.size(), false),
                    .declined = std::vector<bool>(view.jobs.size(), false),
                    .late = std::vector<Lateness>(view.jobs.size()),
                    .change = made.change};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    promises.sizes[rows[i]] = made.sizes[i];
    promises.accepted[rows[i]] = made.accepted[i];
    promises.declined[rows[i]] = made.declined[i];
    promises.late[rows[i]] = made.late[i];
  }
  return promises;
}

}  // namespace tidepool::policies::tidal
