// A policy, and a decision, whose reasons all say the same: an engine that is driven by them must still plan what one
// with its reasons plans.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decide/policy.hpp"
#include "core/state/plan.hpp"

namespace tidepool::test {

// Every reason becomes `constant`. Sizes, scores and whatever else an engine may go by stay.
inline void reword(std::vector<core::Alternative>& lost, const core::Reason& constant) {
  for (core::Alternative& each : lost) each.reason = constant;
}

inline void reword(core::Allotment& allotment, const core::Reason& constant) {
  allotment.reason = constant;
  reword(allotment.lost, constant);
}

inline void reword(core::Decision& decision, const core::Reason& constant) {
  for (core::PlannedIntent& planned : decision.plan) planned.reason = constant;
  for (core::Verdict& verdict : decision.verdicts) {
    verdict.reason = constant;
    reword(verdict.lost, constant);
    if (verdict.chosen) verdict.chosen->reason = constant;
  }
  if (!decision.replan) return;
  for (core::AllotmentChange& change : decision.replan->changes) {
    if (change.now) reword(*change.now, constant);
  }
}

class RewordedPlanner final : public core::ClusterPlanner {
 public:
  RewordedPlanner(std::unique_ptr<core::ClusterPlanner> planner, core::Reason constant)
      : planner_(std::move(planner)), constant_(std::move(constant)) {}

  void follow(const core::ClusterState& state, JobId job) override { planner_->follow(state, job); }
  void booked() override { planner_->booked(); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override {
    auto answer = planner_->plan(request, budget);
    if (!answer) return answer;
    for (auto& [job, allotment] : answer->allotments) reword(allotment, constant_);
    return answer;
  }

 private:
  std::unique_ptr<core::ClusterPlanner> planner_;
  core::Reason constant_;
};

class RewordedPolicy final : public core::Policy {
 public:
  RewordedPolicy(std::shared_ptr<const core::Policy> policy, core::Reason constant)
      : policy_(std::move(policy)), constant_(std::move(constant)) {}

  [[nodiscard]] std::string_view name() const override { return policy_->name(); }
  [[nodiscard]] std::vector<JobId> order(const core::ClusterView& view, core::StepBudget& budget) const override {
    return policy_->order(view, budget);
  }
  [[nodiscard]] std::optional<core::QueueRank> rank(const core::Job& job) const override { return policy_->rank(job); }
  [[nodiscard]] bool strict_order() const override { return policy_->strict_order(); }
  [[nodiscard]] core::SizeWish size(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override {
    core::SizeWish wish = policy_->size(view, job, budget);
    wish.reason = constant_;
    reword(wish.lost, constant_);
    return wish;
  }
  [[nodiscard]] bool plans_cluster() const override { return policy_->plans_cluster(); }
  [[nodiscard]] std::unique_ptr<core::ClusterPlanner> planner() const override {
    auto planner = policy_->planner();
    return planner ? std::make_unique<RewordedPlanner>(std::move(planner), constant_) : nullptr;
  }

 private:
  std::shared_ptr<const core::Policy> policy_;
  core::Reason constant_;
};

}  // namespace tidepool::test
