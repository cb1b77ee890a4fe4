#include "policies/cluster/deadline_plan.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::cluster {
namespace {

std::int64_t next_boundary(std::int64_t at_s, std::int64_t slot_s) {
  return (at_s + slot_s - 1) / slot_s * slot_s;
}

double speed_at(const std::vector<Level>& levels, int size) {
  for (const Level& level : levels) {
    if (level.size == size) return level.speed;
  }
  return 0;
}

// Fills the steps of a profile one after the other and stops when the job is done.
class Filling {
 public:
  Filling(const Demand& demand, const SlotProfile& profile, std::int64_t slot_s)
      : demand_(demand), steps_(profile.steps()), slot_s_(slot_s), left_(demand.steps_left) {}

  [[nodiscard]] bool done() const { return done_; }

  // The step's time for the job: the last one before its deadline counts to the deadline itself.
  [[nodiscard]] std::int64_t until(std::size_t step, std::int64_t deadline_slot_s) const {
    const std::int64_t end_s = step + 1 < steps_.size() ? steps_[step + 1].from_s : kForever;
    return end_s == deadline_slot_s ? std::max(demand_.deadline_s, steps_[step].from_s) : end_s;
  }

  void run(std::size_t step, int size, std::int64_t until_s) {
    const std::int64_t from_s = steps_[step].from_s;
    if (plan_.stretches.empty() || plan_.stretches.back().size != size) {
      plan_.stretches.push_back({.from_s = from_s, .size = size});
    }
    if (size == 0) return;
    const double speed = speed_at(demand_.levels, size);
    const double seconds = std::ceil(left_ / speed);
    if (until_s == kForever || seconds <= static_cast<double>(until_s - from_s)) {
      plan_.ends_s = from_s + static_cast<std::int64_t>(seconds);
      plan_.frees_s = from_s + next_boundary(plan_.ends_s - from_s, slot_s_);
      done_ = true;
      return;
    }
    left_ -= speed * static_cast<double>(until_s - from_s);
  }

  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] DeadlinePlan plan() const { return plan_; }

 private:
  const Demand& demand_;
  const std::vector<SlotProfile::Step>& steps_;
  std::int64_t slot_s_;
  double left_;
  DeadlinePlan plan_;
  bool done_ = false;
};

// Steps [first, last) of a profile.
struct StepRange {
  const SlotProfile& profile;
  std::size_t first = 0;
  std::size_t last = 0;
};

// The first step of `range` from which on `cap` is enough to do `left` until the deadline; none = it is not
// enough even from the first one.
std::optional<std::size_t> enough_from(const Demand& demand, const StepRange& range, int cap, double left) {
  const std::vector<SlotProfile::Step>& steps = range.profile.steps();
  double done = 0;
  for (std::size_t step = range.last; step-- > range.first;) {
    const Level level = level_within(demand.levels, std::min(cap, steps[step].free));
    const std::int64_t until_s = step + 1 == range.last ? demand.deadline_s : steps[step + 1].from_s;
    done += level.speed * static_cast<double>(std::max<std::int64_t>(0, until_s - steps[step].from_s));
    if (level.size > 0 && done >= left) return step;
  }
  return std::nullopt;
}

// The least level that is enough from some step on, and the level below it until then.
struct Change {
  std::size_t at = 0;
  int before = 0;
  int from = 0;
};
Change change_to_enough(const Demand& demand, const StepRange& range, double left) {
  int below = 0;
  for (const Level& level : demand.levels) {
    if (const auto at = enough_from(demand, range, level.size, left)) {
      return {.at = *at, .before = below, .from = level.size};
    }
    below = level.size;
  }
  return {.at = range.first, .before = below, .from = demand.levels.back().size};
}

}  // namespace

DeadlinePlan plan_for(const Demand& demand, SlotProfile profile, std::int64_t slot_s, std::optional<int> now_size) {
  const std::int64_t deadline_slot_s = next_boundary(std::max<std::int64_t>(0, demand.deadline_s), slot_s);
  profile.cut(deadline_slot_s);
  Filling filling(demand, profile, slot_s);
  const auto& steps = profile.steps();
  const std::size_t first = now_size ? 1 : 0;
  if (now_size) filling.run(0, *now_size, filling.until(0, deadline_slot_s));
  std::size_t last = 0;  // the first step that begins at or after the deadline
  while (last < steps.size() && steps[last].from_s < deadline_slot_s) ++last;
  const Change change = change_to_enough(demand, {profile, first, last}, filling.left());
  for (std::size_t step = first; step < steps.size() && !filling.done(); ++step) {
    const int at_most = step >= last ? demand.levels.back().size : step < change.at ? change.before : change.from;
    filling.run(step, level_within(demand.levels, std::min(at_most, steps[step].free)).size,
                filling.until(step, deadline_slot_s));
  }
  DeadlinePlan plan = filling.plan();
  plan.in_time = plan.ends_s <= demand.deadline_s && filling.done();
  return plan;
}

}  // namespace tidepool::policies::cluster
