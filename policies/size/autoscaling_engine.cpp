#include "policies/size/autoscaling_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "policies/size/scaling_evidence.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies {
namespace {

using core::Reason;
namespace reason = core::reason;

// Where a job should go, and whether that is a trial: a visit to learn, which may have to be taken back.
struct Move {
  int size = 0;
  Reason reason;
  bool trial = false;
};

// One judgement of one job; lives for one call.
class Judgement {
 public:
  Judgement(const core::ClusterView& view, const core::Job& job, const AllowedSizes& ladder)
      : job_(job), ladder_(ladder), evidence_(view, job, ladder), present_(job.size()) {}

  [[nodiscard]] core::Target target() const {
    Move move = weigh_transition(choose());
    return {.size = move.size, .reason = std::move(move.reason), .lost = lost_to(move.size), .mark = {}};
  }

 private:
  [[nodiscard]] Move choose() const {
    const auto& sizes = evidence_.sizes();
    if (evidence_.find(present_) == nullptr) {
      return hold(reason::Measuring{.steps = 0, .of = job_.spec.scaling.every_steps});
    }
    if (sizes.size() == 1) return from_one_size();
    const auto& pairs = evidence_.pairs();
    const auto failure = std::find_if(pairs.begin(), pairs.end(), [](const auto& pair) { return !pair.passed; });
    const int spawn = job_.spec.scaling.spawn_size;
    if (failure == pairs.end()) {
      if (const auto larger = ladder_.up(sizes.back().size, spawn))
        return trial(*larger, evidence_.grows(to(*larger), pairs.back()));
      return at_the_top(sizes.back().size);
    }
    const bool among_first_three = failure - pairs.begin() < 3;
    if (const auto smaller = ladder_.down(sizes.front().size, spawn); smaller && among_first_three) {
      return trial(*smaller, evidence_.looks_below(to(*smaller), *failure));
    }
    return before(*failure);
  }

  [[nodiscard]] Move from_one_size() const {
    const int spawn = job_.spec.scaling.spawn_size;
    if (const auto larger = ladder_.up(present_, spawn)) {
      return trial(*larger, reason::ExploreUp{to(*larger)});
    }
    if (const auto smaller = ladder_.down(present_, spawn)) return trial(*smaller, gather(*smaller, 0));
    return at_the_top(present_);
  }

  // Rule 5 without a failure: the largest size there is.
  [[nodiscard]] Move at_the_top(int largest) const {
    if (present_ != largest) {
      return {.size = largest, .reason = evidence_.grows(to(largest), *evidence_.into(largest))};
    }
    if (ladder_.cut_short) return {.size = present_, .reason = ladder_.cut};
    if (job_.spec.elastic.sizes.size() == 1) return hold(reason::FixedSize{{.size = present_}});
    return hold(reason::AtMax{{.size = present_}});
  }

  // Rule 5 with a failure.
  [[nodiscard]] Move before(const PairVerdict& failure) const {
    const std::int64_t wanted = std::min(AutoscalingEngine::kEvidenceStepsMax,
                                         AutoscalingEngine::kEvidenceRounds * job_.spec.scaling.every_steps);
    const std::int64_t have = evidence_.find(failure.large)->steps;
    if (have < wanted) {
      if (present_ != failure.large) return trial(failure.large, gather(failure.large, have));
      return hold(reason::Measuring{.steps = have, .of = wanted});
    }
    const int small = failure.small;
    if (present_ == small) return {.size = present_, .reason = evidence_.settled(failure)};
    if (present_ > small) return {.size = small, .reason = evidence_.shrinks(to(small), failure)};
    return {.size = small, .reason = evidence_.grows(to(small), *evidence_.into(small))};
  }

  // A change costs a stall; a trial may cost a second one.
  [[nodiscard]] Move weigh_transition(Move target) const {
    if (target.size == present_) return target;
    const double there = evidence_.stall_seconds(present_, target.size);
    const double stall = target.trial ? there + evidence_.stall_seconds(target.size, present_) : there;
    // A visit for evidence is judged by what it could bring at best, not by the number it is to check.
    const double gain = target.trial ? evidence_.best_gain_seconds(present_, target.size)
                                     : evidence_.gain_seconds(present_, target.size);
    if (gain > stall) return target;
    return hold(reason::TransitionTooDear{to(target.size), gain, stall});
  }

  [[nodiscard]] Move hold(Reason why) const { return {.size = present_, .reason = std::move(why)}; }
  [[nodiscard]] static Move trial(int size, Reason reason) {
    return {.size = size, .reason = std::move(reason), .trial = true};
  }

  [[nodiscard]] Reason gather(int size, std::int64_t steps) const { return reason::GatherEvidence{to(size), steps}; }
  [[nodiscard]] reason::Change to(int size) const { return {.from = present_, .to = size}; }

  // How far the step from small to large is above the line that it must pass.
  [[nodiscard]] double margin(const PairVerdict& pair) const {
    return evidence_.by_utility() ? pair.gain - pair.cost : pair.efficiency - pair.asked;
  }

  [[nodiscard]] std::vector<core::Alternative> lost_to(int chosen) const {
    std::vector<core::Alternative> lost;
    for (const PairVerdict& pair : evidence_.pairs()) {
      // Sizes beyond the next one were not weighed: the walk up ended before them.
      if (pair.small > chosen) break;
      if (pair.large > chosen) {
        if (pair.passed) break;
        lost.push_back({.size = pair.large, .score = margin(pair), .reason = evidence_.settled(pair)});
      } else {
        const Reason forgone = evidence_.grows({.from = pair.small, .to = pair.large}, pair);
        lost.push_back({.size = pair.small, .score = -margin(pair), .reason = forgone});
      }
    }
    core::sort_best_first(lost);
    constexpr std::size_t kLostMax = 4;
    if (lost.size() > kLostMax) lost.resize(kLostMax);
    return lost;
  }

  const core::Job& job_;
  const AllowedSizes& ladder_;
  ScalingEvidence evidence_;
  int present_;
};

}  // namespace

core::Target AutoscalingEngine::target(const core::ClusterView& view, const core::Job& job,
                                       core::StepBudget& budget) const {
  budget.spend(1 + static_cast<std::int64_t>(job.measurements.sizes.size()));
  const AllowedSizes ladder = ladder_of(view.state, job);
  const auto to = [](int size, Reason reason) {
    return core::Target{.size = size, .reason = std::move(reason), .lost = {}, .mark = {}};
  };
  if (ladder.sizes.empty()) return to(0, ladder.cut);
  const int present = job.size();
  if (present == 0) {
    const int start = ladder.start_size(job.spec.elastic.preferred);
    return to(start, reason::Started{{.size = start}});
  }
  if (present > ladder.sizes.back()) {
    const Reason at_max = reason::AtMax{{.size = ladder.sizes.back()}};
    return to(ladder.sizes.back(), ladder.cut_short ? ladder.cut : at_max);
  }
  if (job.spec.resize == core::ResizeMode::kRestart && job.measurements.sizes.empty()) {
    const int keep = ladder.start_size(job.spec.elastic.preferred);
    return to(keep, reason::NoMeasurements{{.size = keep}});
  }
  if (!ladder.has(present)) {
    const int next = *ladder.up(present, 1);
    return to(next, reason::GatherEvidence{{.from = present, .to = next}, 0});
  }
  const std::int64_t every = job.spec.scaling.every_steps;
  if (job.measurements.steps_since_switch < every) {
    return to(present, reason::Measuring{.steps = job.measurements.steps_since_switch, .of = every});
  }
  return Judgement(view, job, ladder).target();
}

}  // namespace tidepool::policies
