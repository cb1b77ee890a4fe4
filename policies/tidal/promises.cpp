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

bool has_promise(const JobRow& job) {
  return job.deadline && job.useful_left;
}
bool is_accepted(const JobRow& job) {
  return job.mark.level == kAccepted || job.held > Duration() || !job.placement.empty();
}

class Planner {
 public:
  Planner(const View& view, const Settings& settings, core::StepBudget& budget)
      : view_(view), ground_(ground_of(view)), settings_(settings), budget_(budget), room_(view.slots()) {
    const std::size_t rows = view.jobs.size();
    promises_ = {.sizes = std::vector<int>(rows, 0),
                 .accepted = std::vector<bool>(rows, false),
                 .declined = std::vector<bool>(rows, false),
                 .late = std::vector<Lateness>(rows),
                 .change = std::nullopt};
    demands_.resize(rows);
    plans_.resize(rows);
  }

  Promises make() && {
    std::vector<std::size_t> rows;  // accepted before, by deadline
    std::vector<std::size_t> newcomers;
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      const JobRow& job = view_.jobs[row];
      if (!has_promise(job)) {
        room_ -= kept(job);
        continue;
      }
      demands_[row] = demand_of(job);
      (is_accepted(job) ? rows : newcomers).push_back(row);
    }
    room_ = std::max(0, room_);
    rows = keepable(by_deadline(std::move(rows)));
    for (const std::size_t row : least_first(std::move(newcomers))) {
      std::vector<std::size_t> with = rows;
      with.push_back(row);
      with = by_deadline(std::move(with));
      if (!demands_[row].levels.empty() && plan_all(with)) {
        rows = std::move(with);
      } else {
        promises_.declined[row] = true;
      }
    }
    plan_all(rows);
    for (const std::size_t row : rows) promise(row);
    measure_lateness(rows);
    return std::move(promises_);
  }

 private:
  // Slots that a job without a promise has whatever others want.
  static int kept(const JobRow& job) {
    if (job.resize_blocked) return size_of(job.placement);
    return job.preemptible || job.placement.empty() ? 0 : std::min(size_of(job.placement), job.size_min);
  }

  [[nodiscard]] Demand demand_of(const JobRow& job) const {
    Demand demand;
    for (const int size : sizes_weighed(job, ground_, settings_)) {
      const double speed = job.speed->goodput(cluster::packed(size, ground_.slots_per_node));
      const bool faster = demand.levels.empty() || speed > demand.levels.back().speed;
      if (speed > 0 && std::isfinite(speed) && faster) demand.levels.push_back({.size = size, .speed = speed});
    }
    demand.steps_left = std::max(*job.useful_left, 1e-9);
    const double until_s = (*job.deadline - view_.now).to_seconds() - job.transition.to_seconds();
    demand.deadline_s = static_cast<std::int64_t>(std::floor(until_s * (1 - settings_.deadline_margin)));
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
        const DeadlinePlan alone = plan_for(demands_[row], SlotProfile(room_), kSlot);
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
      plans_[row] = plan_for(demands_[row], free, kSlot);
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
      const DeadlinePlan plan = plan_for(demands_[row], free, kSlot);
      if (!plan.in_time) continue;
      free.take(plan.stretches, plan.frees_s);
      kept.push_back(row);
    }
    return kept;
  }

  void measure_lateness(const std::vector<std::size_t>& promised) {
    SlotProfile left(room_);
    for (const std::size_t row : promised) left.take(plans_[row].stretches, plans_[row].frees_s);
    for (std::size_t row = 0; row < demands_.size(); ++row) {
      if (!promises_.declined[row] || demands_[row].levels.empty()) continue;
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
      return plan_for(demand, free, kSlot).in_time;
    };
    if (in_time(0)) return 0;
    std::int64_t enough = kSlot;
    while (!in_time(enough)) {
      if (enough > kLatenessMost) return -1;
      enough *= 2;
    }
    std::int64_t short_of = enough / 2;
    while (enough - short_of > kSlot) {
      const std::int64_t middle = (short_of + enough) / 2;
      (in_time(middle) ? enough : short_of) = middle;
    }
    return double(enough) / (1 - settings_.deadline_margin);
  }

  void promise(std::size_t row) {
    promises_.accepted[row] = true;
    promises_.sizes[row] = plans_[row].size_now();
    if (plans_[row].stretches.size() < 2) return;
    const Instant change = view_.now + Duration::seconds(plans_[row].stretches[1].from_s);
    if (!promises_.change || change < *promises_.change) promises_.change = change;
  }

  const View& view_;
  SlotPool ground_;
  const Settings& settings_;
  core::StepBudget& budget_;
  int room_;  // slots that can be promised
  Promises promises_;
  std::vector<Demand> demands_;      // by row
  std::vector<DeadlinePlan> plans_;  // by row
};

}  // namespace

Promises promises_of(const View& view, const Settings& settings, core::StepBudget& budget) {
  if (std::none_of(view.jobs.begin(), view.jobs.end(), has_promise)) return {};
  return Planner(view, settings, budget).make();
}

}  // namespace tidepool::policies::tidal
