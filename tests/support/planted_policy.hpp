// A policy with a bug, for properties that have to see it: jobs in the order in which they came, each at its smallest
// size. Without a bug it keeps every law; each bug breaks one.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/cluster/queue_grants.hpp"
#include "policies/engine/whole_cluster_policy.hpp"
#include "tests/support/policy_parts.hpp"

namespace tidepool::test {

enum class PolicyBug {
  kNone,
  kIgnoresItsPart,  // a tenant's planner plans with the whole pool
  kTakesTurns,      // each minute another job comes first
  kNewestFirst,     // so a job that comes preempts those that run
  kGoesByNames,     // of some tenants the newest job comes first
  kSeesTheTree,     // where tenants share the pool
  kRemembers,       // after some plans, whatever the state says
};

// The whole queue at its smallest sizes.
class InLine final : public policies::cluster::AllocationPolicy {
 public:
  enum class First { kOldest, kNewest, kInTurn };
  explicit InLine(First first) : first_(first) {}

  [[nodiscard]] policies::cluster::Allocation allocate(const policies::cluster::View& view,
                                                       core::StepBudget& budget) const override {
    budget.spend();
    policies::cluster::View least = view;
    for (policies::cluster::JobRow& row : least.jobs) row.size_wanted = row.size_min;
    std::vector<std::size_t> queue(view.jobs.size());
    std::iota(queue.begin(), queue.end(), std::size_t{0});
    if (first_ == First::kNewest) std::reverse(queue.begin(), queue.end());
    if (first_ == First::kInTurn && !queue.empty()) {
      const auto minutes = static_cast<std::size_t>(view.now.count_us() / 60'000'000);
      std::rotate(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(minutes % queue.size()), queue.end());
    }
    return grant_in_order(least, std::move(queue), policies::cluster::Overtaking::kAllowed);
  }

 private:
  First first_;
};

class PlantedPlanner final : public core::Planner {
 public:
  explicit PlantedPlanner(PolicyBug bug) : bug_(bug) {}
  void follow(const core::ClusterState& state, JobId job) override {
    for (const auto& planner : {right_.get(), wrong_.get()}) planner->follow(state, job);
  }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override {
    ++plans_;
    core::PlanRequest asked = request;
    if (bug_ == PolicyBug::kIgnoresItsPart) asked.slots_most.reset();
    return (is_wrong(request) ? wrong_ : right_)->plan(asked, budget);
  }

 private:
  static std::unique_ptr<core::Planner> planner(InLine::First first) {
    return policies::cluster::planner_of(std::make_shared<InLine>(first));
  }
  [[nodiscard]] bool is_wrong(const core::PlanRequest& request) const {
    const core::ClusterState& state = request.view.state;
    if (bug_ == PolicyBug::kSeesTheTree) return !state.tenants->empty();
    if (bug_ == PolicyBug::kRemembers) return plans_ > 12;
    if (bug_ != PolicyBug::kGoesByNames) return bug_ != PolicyBug::kNone;
    for (const JobId id : request.jobs) {
      const core::Job* job = state.find_job(id);
      if (job == nullptr || !request.counts(*job)) continue;
      const std::string& tenant = job->spec.tenant;
      return std::accumulate(tenant.begin(), tenant.end(), 0) % 2 == 1;
    }
    return false;
  }

  PolicyBug bug_;
  int plans_ = 0;
  std::unique_ptr<core::Planner> right_ = planner(InLine::First::kOldest);
  std::unique_ptr<core::Planner> wrong_ = planner(bug_ == PolicyBug::kIgnoresItsPart ? InLine::First::kOldest
                                                  : bug_ == PolicyBug::kTakesTurns   ? InLine::First::kInTurn
                                                                                     : InLine::First::kNewest);
};

class PlantedPolicy final : public core::Policy {
 public:
  explicit PlantedPolicy(PolicyBug bug) : bug_(bug) {}
  [[nodiscard]] std::string_view name() const override { return "planted"; }
  [[nodiscard]] std::unique_ptr<core::Planner> planner() const override {
    return std::make_unique<PlantedPlanner>(bug_);
  }

 private:
  PolicyBug bug_;
};

inline core::Engine::Parts planted_parts(PolicyBug bug) {
  return {{{"default", std::make_shared<PlantedPolicy>(bug)}}, {std::make_shared<PlainDetector>()}, short_timeouts()};
}

}  // namespace tidepool::test
