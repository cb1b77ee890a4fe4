#include "studies/baselines/elasticflow.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/words/measure.hpp"
#include "policies/cluster/deadline_plan.hpp"
#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr std::int64_t kYears = 10LL * 365 * 86'400;
constexpr int kAccepted = 1;

// Also one that ran before this policy came.
bool is_accepted(const JobRow& job) {
  return job.mark.level == kAccepted || job.held > Duration() || !job.placement.empty();
}

class Round {
 public:
  Round(const View& view, core::StepBudget& budget) : view_(view), budget_(budget), plans_(view.jobs.size()) {
    for (const JobRow& job : view.jobs) demands_.push_back(demand_of(job));
  }

  Allocation allocate() {
    std::vector<std::size_t> accepted;
    std::vector<std::size_t> all;
    for (const std::size_t row : by_deadline()) {
      if (demands_[row].levels.empty()) continue;  // runs nowhere
      all.push_back(row);
      if (is_accepted(view_.jobs[row])) accepted.push_back(row);
    }
    if (!plan_all(all) && accepted.size() < all.size()) {
      plan_all(accepted);
      all = accepted;
    }
    planned_ = std::move(all);
    spend_rest();
    return answer();
  }

 private:
  [[nodiscard]] Demand demand_of(const JobRow& job) const {
    Demand demand{.levels = levels_of(job, view_.slots(), view_.slots_per_node())};
    demand.steps_left = std::max(job.steps_left.value_or(1), 1e-9);
    demand.deadline_s = kYears;
    if (job.deadline) demand.deadline_s = (*job.deadline - view_.now).count_us() / 1'000'000;
    return demand;
  }

  [[nodiscard]] std::vector<std::size_t> by_deadline() const {
    std::vector<std::size_t> rows(demands_.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(demands_[a].deadline_s, a) < std::pair(demands_[b].deadline_s, b);
    });
    return rows;
  }

  // Whether all of them end in time.
  bool plan_all(const std::vector<std::size_t>& rows) {
    free_ = SlotProfile(view_.slots());
    bool in_time = true;
    for (const std::size_t row : rows) {
      budget_.spend(static_cast<std::int64_t>(free_.steps().size()));
      plans_[row] = plan_for(demands_[row], free_, ElasticFlow::kSlot);
      free_.take(plans_[row].stretches, plans_[row].frees_s);
      in_time = in_time && plans_[row].in_time;
    }
    return in_time;
  }

  struct Raise {
    double saved = 0;  // slot-seconds, per slot more
    std::size_t row = 0;
    DeadlinePlan plan;
  };

  // What the next level now would make of a job's plan; none = there is no next level, or no room.
  [[nodiscard]] std::optional<Raise> raise(std::size_t row) const {
    const DeadlinePlan& plan = plans_[row];
    const int size = plan.size_now();
    const auto next = std::find_if(demands_[row].levels.begin(), demands_[row].levels.end(),
                                   [&](const Level& level) { return level.size > size; });
    if (next == demands_[row].levels.end() || next->size - size > free_.free_now()) return std::nullopt;
    SlotProfile without = free_;
    without.give(plan.stretches, plan.frees_s);
    Raise raise{.row = row, .plan = plan_for(demands_[row], without, ElasticFlow::kSlot, next->size)};
    const double saved =
        slot_seconds(plan.stretches, plan.frees_s) - slot_seconds(raise.plan.stretches, raise.plan.frees_s);
    raise.saved = size == 0 ? std::numeric_limits<double>::infinity() : saved / (next->size - size);
    return raise;
  }

  void spend_rest() {
    while (free_.free_now() > 0) {
      std::optional<Raise> best;
      for (const std::size_t row : planned_) {
        auto raised = raise(row);
        if (raised && (!best || raised->saved > best->saved)) best = std::move(raised);
      }
      if (!best || !budget_.spend(static_cast<std::int64_t>(planned_.size() * free_.steps().size()))) return;
      DeadlinePlan& plan = plans_[best->row];
      free_.give(plan.stretches, plan.frees_s);
      free_.take(best->plan.stretches, best->plan.frees_s);
      plan = std::move(best->plan);
    }
  }

  // What a plan promises: when the job ends by it, and how long before its deadline.
  [[nodiscard]] core::reason::ByPromise promise(std::size_t row, const DeadlinePlan& plan) const {
    core::reason::ByPromise by{.ends_s = double(plan.ends_s)};
    if (view_.jobs[row].deadline) by.spare_s = double(demands_[row].deadline_s - plan.ends_s);
    return by;
  }

  [[nodiscard]] core::Reason reason_for(std::size_t row) const {
    namespace reason = core::reason;
    const DeadlinePlan& plan = plans_[row];
    const int size = plan.size_now();
    const int held = size_of(view_.jobs[row].placement);
    reason::ByPromise by = promise(row, plan);
    if (size == 0) {
      const bool starts = plan.stretches.size() > 1;
      by.starts_s = starts ? double(plan.stretches[1].from_s) : 0;
      return reason::MeritWait{.needed = starts ? plan.stretches[1].size : demands_[row].levels.front().size,
                               .free = free_.free_now(),
                               .by = by};
    }
    if (held == 0) return reason::Started{{.size = size}, {}, by};
    if (held == size) return reason::MeritHold{.size = size, .by = by};
    const reason::ByJudgement change{{.from = held, .to = size}, by};
    return size > held ? core::Reason(reason::MeritGrow{change}) : core::Reason(reason::MeritShrink{change});
  }

  // The same job with the level beside the present one from now on, its plan's slots given back first. A score is the
  // slot time that a plan takes, in hours and below 0.
  void tell_levels(std::size_t row, Grant& grant) const {
    const auto score = [](const DeadlinePlan& plan) { return -slot_seconds(plan.stretches, plan.frees_s) / 3'600; };
    const DeadlinePlan& plan = plans_[row];
    grant.score = score(plan);
    SlotProfile without = free_;
    without.give(plan.stretches, plan.frees_s);
    const int size = plan.size_now();
    const int below = level_within(demands_[row].levels, size - 1).size;
    const auto above = std::find_if(demands_[row].levels.begin(), demands_[row].levels.end(),
                                    [&](const Level& level) { return level.size > size; });
    std::vector<int> others;
    if (size > 0) others.push_back(below);
    if (above != demands_[row].levels.end()) others.push_back(above->size);
    for (const int other : others) {
      // More than is free is what others were promised; such a plan would have to be made in an empty cluster.
      const bool fits = other <= without.free_now();
      const DeadlinePlan plan_then =
          plan_for(demands_[row], fits ? without : SlotProfile(view_.slots()), ElasticFlow::kSlot, other);
      core::Reason why = core::reason::MeritHold{.size = other, .by = promise(row, plan_then)};
      if (other == 0) why = core::reason::MeritWait{.needed = size, .by = promise(row, plan_then)};
      if (!fits) why = core::reason::NoSlotsToGrow{.wanted = other - size, .free = free_.free_now()};
      grant.lost.push_back({.size = other, .score = score(plan_then), .reason = std::move(why)});
    }
    core::sort_best_first(grant.lost);
  }

  void explain(std::size_t row, bool planned, Grant& grant) const {
    if (demands_[row].levels.empty()) {
      grant.reason = core::reason::NeverFits{.needed = 1, .cluster = view_.slots()};
    } else if (!planned) {
      grant.reason = core::reason::DeadlineLost{.needed = demands_[row].levels.front().size};
    } else {
      grant.reason = reason_for(row);
      if (view_.explained) tell_levels(row, grant);
    }
  }

  [[nodiscard]] Allocation answer() const {
    Allocation allocation{.grants = std::vector<Grant>(view_.jobs.size()), .order = {}, .placements = {}};
    std::int64_t changes_s = kForever;
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      Grant& grant = allocation.grants[row];
      const bool planned = std::find(planned_.begin(), planned_.end(), row) != planned_.end();
      grant.declined = !planned && !is_accepted(view_.jobs[row]);
      grant.mark = {.level = grant.declined ? 0 : kAccepted, .since = view_.now, .numbers = {}};
      if (planned) {
        grant.size = plans_[row].size_now();
        if (plans_[row].stretches.size() > 1) changes_s = std::min(changes_s, plans_[row].stretches[1].from_s);
      }
      explain(row, planned, grant);
    }
    allocation.order = largest_first(allocation.grants);
    if (changes_s < kForever) allocation.wake = view_.now + Duration::seconds(changes_s);
    return allocation;
  }

  const View& view_;
  core::StepBudget& budget_;
  std::vector<Demand> demands_;
  std::vector<DeadlinePlan> plans_;
  std::vector<std::size_t> planned_;
  SlotProfile free_{0};
};

}  // namespace

Allocation ElasticFlow::allocate(const View& view, core::StepBudget& budget) const {
  return Round(view, budget).allocate();
}

}  // namespace tidepool::policies::cluster
