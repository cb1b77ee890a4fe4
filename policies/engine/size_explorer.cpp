#include "policies/engine/size_explorer.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

using core::Reason;
namespace reason = core::reason;

// By the fitted curve: whether going from the first size, which was measured, to the second would pay, and by more than
// the noise of a measurement (as ScalingEvidence judges from below).
bool expected_to_pay(const core::Job& job, const JobSpeed& speed, int from, int to) {
  const int each = job.spec.gpus_per_worker;
  const double before = speed.goodput({.nodes = 1, .size = from * each});
  const double after = speed.goodput({.nodes = 1, .size = to * each});
  const double asked =
      job.spec.scaling.efficiency_threshold + ScalingEvidence::kNoise * double(from) / double(to - from);
  return (after - before) / (to - from) > asked * before / from;
}

// What a size gave at the batch of then is no evidence against it.
bool is_judged_by_batch(const core::Job& job, const ScalingEvidence& evidence) {
  return chooses_batch(job) && !evidence.by_utility();
}

std::optional<PairVerdict> first_failure(const core::Job& job, const ScalingEvidence& evidence) {
  if (is_judged_by_batch(job, evidence)) return std::nullopt;
  const auto& pairs = evidence.pairs();
  const auto failure = std::find_if(pairs.begin(), pairs.end(), [&](const PairVerdict& pair) {
    return !pair.passed && evidence.find(pair.large)->steps > 0;
  });
  return failure == pairs.end() ? std::nullopt : std::optional(*failure);
}

}  // namespace

SizeExplorer::SizeExplorer(const core::ClusterState& state, const core::Job& job, AllowedSizes ladder)
    : job_(&job),
      ladder_(std::move(ladder)),
      evidence_(core::ClusterView{state, job.progress.reported_at.value_or(job.submitted_at)}, job, ladder_,
                Comparison::kSideBySide),
      failure_(first_failure(job, evidence_)),
      tried_(evidence_.sizes().empty() ? 0 : evidence_.sizes().back().size),
      look_below_(lower_to_look_at()) {}

// The size below the failing step that is worth a visit; 0 = none.
int SizeExplorer::lower_to_look_at() const {
  if (!failure_ || failure_->small != evidence_.sizes().front().size) return 0;
  if (failure_->small <= ladder_.sizes.front()) return 0;
  const int lower = ladder_.start_size(failure_->small / 2);
  const double visit =
      evidence_.stall_seconds(failure_->small, lower) + evidence_.stall_seconds(lower, failure_->small);
  return evidence_.best_gain_seconds(failure_->small, lower) > visit ? lower : 0;
}

// Whether the way back to the last size that pays would cost more than it brings.
bool SizeExplorer::keeps_what_it_holds() const {
  const int held = job_->size();
  if (!failure_ || held < failure_->large || evidence_.find(held) == nullptr) return false;
  return evidence_.gain_seconds(held, failure_->small) <= evidence_.stall_seconds(held, failure_->small);
}

int SizeExplorer::largest(int known) const {
  if (look_below_ > 0) return look_below_;
  if (known > tried_) return 2 * known;
  if (tried_ == 0) return ladder_.start_size(job_->spec.elastic.preferred);
  const int next = ladder_.up(tried_, 1).value_or(tried_);
  const bool nothing_below = evidence_.sizes().size() == 1 && tried_ > ladder_.sizes.front();
  return std::max(next, nothing_below ? tried_ + tried_ / 2 : 2 * tried_);
}

// Each size that pays compared with the previous one, at the best batches now; up to twice the largest measured size.
std::vector<int> SizeExplorer::sizes_at_best_batch(const JobSpeed& speed) const {
  const int most = std::max(largest(speed.largest_of_kin()), 2 * speed.largest_measured());
  std::vector<int> sizes;
  for (const int size : ladder_.sizes) {
    const bool pays = sizes.empty() || expected_to_pay(*job_, speed, sizes.back(), size);
    if ((size <= most && pays) || size == job_->size()) sizes.push_back(size);
  }
  return sizes;
}

std::vector<int> SizeExplorer::sizes(const JobSpeed& speed) const {
  if (is_judged_by_batch(*job_, evidence_)) return sizes_at_best_batch(speed);
  const int most = largest(speed.largest_of_kin());
  const int held = job_->size();
  const bool keeps = !failure_ || held < failure_->large || keeps_what_it_holds();
  std::vector<int> sizes;
  sizes.reserve(ladder_.sizes.size() + 1);
  for (const int size : ladder_.sizes) {
    const bool beyond = failure_ && size >= failure_->large;
    const bool between = failure_ && size > failure_->small && size < failure_->large;
    const bool pays = !beyond && (!between || expected_to_pay(*job_, speed, failure_->small, size));
    if ((size <= most && pays) || (size == held && keeps && look_below_ == 0)) sizes.push_back(size);
  }
  if (sizes.empty()) sizes.push_back(ladder_.sizes.front());
  return sizes;
}

std::optional<Reason> SizeExplorer::evidence_for(const core::Target& target, bool priced) const {
  const int held = job_->size();
  if (held == 0 || target.size == 0) return std::nullopt;
  if (target.size == held) return ground_to_hold();
  return target.size > held ? ground_to_grow(target.size, priced) : ground_to_shrink(target.size);
}

// Of a job that has the largest size in its reach.
std::optional<Reason> SizeExplorer::ground_to_hold() const {
  const int held = job_->size();
  if (evidence_.find(held) == nullptr) {
    const auto record = job_->measurements.sizes.find(held);
    const std::int64_t steps = record == job_->measurements.sizes.end() ? 0 : record->second.steps;
    return reason::Measuring{.steps = steps, .of = job_->spec.scaling.every_steps};
  }
  if (failure_ && held >= failure_->large) {
    return reason::TransitionTooDear{{.from = held, .to = failure_->small},
                                     evidence_.gain_seconds(held, failure_->small),
                                     evidence_.stall_seconds(held, failure_->small)};
  }
  if (failure_ && held == failure_->small) return evidence_.settled(*failure_);
  if (ladder_.cut_short && held == ladder_.sizes.back()) return ladder_.cut;
  return std::nullopt;
}

std::optional<Reason> SizeExplorer::ground_to_grow(int to, bool priced) const {
  if (priced || tried_ == 0) return std::nullopt;
  const int held = job_->size();
  if (evidence_.sizes().size() == 1) return reason::ExploreUp{{.from = held, .to = to}};
  // Into a size that was measured, or beyond all that were, which the last step was worth.
  const PairVerdict* pair = to > tried_ ? &evidence_.pairs().back() : evidence_.into(to);
  if (pair == nullptr || !pair->passed) return std::nullopt;
  return evidence_.grows({.from = held, .to = to}, *pair);
}

std::optional<Reason> SizeExplorer::ground_to_shrink(int to) const {
  if (!failure_) return std::nullopt;
  const int held = job_->size();
  const reason::Change change{.from = held, .to = to};
  if (to == look_below_) return evidence_.looks_below(change, *failure_);
  if (held < failure_->large || to != failure_->small) return std::nullopt;
  return evidence_.shrinks(change, *failure_);
}

void add_measurements_to_answer(const core::ClusterState& state, const core::Job& job, RestsOn rests_on,
                                core::Target& target) {
  if (rests_on == RestsOn::kElse) return;
  AllowedSizes ladder = ladder_of(state, job);
  if (ladder.sizes.empty() || job.requests.pinned_size > 0 || reports_nothing(job)) return;
  auto evidence = SizeExplorer(state, job, std::move(ladder)).evidence_for(target, rests_on == RestsOn::kPrice);
  if (evidence) target.reason = *std::move(evidence);
}

}  // namespace tidepool::policies::cluster
