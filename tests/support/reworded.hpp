// A policy, and a decision, whose reasons say something else: an engine that is driven by them must still plan what one
// with its own reasons plans.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "core/decide/policy.hpp"
#include "core/state/plan.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {

// What reasons are replaced by: all by the same one, or each by one that is drawn from all kinds by where it stands, so
// that what was alike may differ and what differed may be alike.
class Rewording {
 public:
  explicit Rewording(core::Reason constant) : all_{std::move(constant)} {}
  Rewording(std::vector<core::Reason> drawn_from, std::uint64_t seed) : all_(std::move(drawn_from)), seed_(seed) {}

  [[nodiscard]] const core::Reason& at(JobId job, std::int64_t place) const {
    Digest digest;
    digest.mix(seed_).mix(job.number()).mix(static_cast<std::uint64_t>(place));
    return all_[digest.value() % all_.size()];
  }

 private:
  std::vector<core::Reason> all_;
  std::uint64_t seed_ = 0;
};

// Sizes, scores and whatever else an engine may go by stay.
inline void reword(std::vector<core::Alternative>& lost, JobId job, const Rewording& words) {
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i].reason = words.at(job, 100 + static_cast<std::int64_t>(i));
}

inline void reword(core::Target& target, JobId job, const Rewording& words) {
  target.reason = words.at(job, target.size);
  reword(target.lost, job, words);
}

inline void reword(core::Decision& decision, const Rewording& words) {
  const auto place = static_cast<std::int64_t>(decision.id.number());
  for (core::PlannedIntent& planned : decision.plan) planned.reason = words.at(core::job_of(planned.intent), place);
  for (core::Verdict& verdict : decision.verdicts) {
    verdict.reason = words.at(verdict.job, place);
    reword(verdict.lost, verdict.job, words);
    if (verdict.chosen) verdict.chosen->reason = words.at(verdict.job, verdict.chosen->size);
  }
  if (!decision.replan) return;
  for (core::TargetChange& change : decision.replan->changes) {
    if (change.now) reword(*change.now, change.job, words);
  }
}

class RewordedPlanner final : public core::Planner {
 public:
  RewordedPlanner(std::unique_ptr<core::Planner> planner, Rewording words)
      : planner_(std::move(planner)), words_(std::move(words)) {}

  void follow(const core::ClusterState& state, JobId job) override { planner_->follow(state, job); }
  void booked() override { planner_->booked(); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override {
    auto answer = planner_->plan(request, budget);
    if (!answer) return answer;
    for (auto& [job, target] : answer->targets) reword(target, job, words_);
    return answer;
  }

 private:
  std::unique_ptr<core::Planner> planner_;
  Rewording words_;
};

class RewordedRule final : public core::JobRule {
 public:
  RewordedRule(const core::JobRule& rule, Rewording words) : rule_(rule), words_(std::move(words)) {}

  [[nodiscard]] core::QueueRank rank(const core::Job& job) const override { return rule_.rank(job); }
  [[nodiscard]] core::Target target(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override {
    core::Target target = rule_.target(view, job, budget);
    reword(target, job.id, words_);
    return target;
  }

 private:
  const core::JobRule& rule_;
  Rewording words_;
};

class RewordedPolicy final : public core::Policy {
 public:
  RewordedPolicy(std::shared_ptr<const core::Policy> policy, Rewording words)
      : policy_(std::move(policy)), words_(std::move(words)) {
    if (policy_->rule() != nullptr) rule_.emplace(*policy_->rule(), words_);
  }

  [[nodiscard]] std::string_view name() const override { return policy_->name(); }
  [[nodiscard]] const core::JobRule* rule() const override { return rule_ ? &*rule_ : nullptr; }
  [[nodiscard]] core::LineRule line_rule() const override { return policy_->line_rule(); }
  [[nodiscard]] std::unique_ptr<core::Planner> planner() const override {
    auto planner = policy_->planner();
    return planner ? std::make_unique<RewordedPlanner>(std::move(planner), words_) : nullptr;
  }

 private:
  std::shared_ptr<const core::Policy> policy_;
  Rewording words_;
  std::optional<RewordedRule> rule_;  // of a policy that is a rule
};

}  // namespace tidepool::test
