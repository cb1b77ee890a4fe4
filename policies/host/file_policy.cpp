#include "policies/host/file_policy.hpp"

#include <limits>
#include <utility>

#include "policies/cluster/registry.hpp"
#include "policies/host/answers.hpp"
#include "schedulerd/core/plan_grounds.hpp"

namespace tidepool::policies::host {
namespace {

constexpr std::string_view kFallback = "tidal";

// Null if the round says nothing about the job as it is today.
const core::PolicyWish* wish_of(const core::PolicyRound& round, const core::ClusterState& state, JobId id) {
  const core::PolicyWish* wish = round.wish_for(id);
  const core::Job* job = state.find_job(id);
  return wish != nullptr && job != nullptr && wish->asked == core::digest_of_wishes(*job) ? wish : nullptr;
}

// What the round says, row by row of today's view. `unanswered` gets the rows that it does not speak of.
Answers answers_today(const core::PolicyRound& round, const core::ClusterState& state, const cluster::View& view,
                      std::vector<std::size_t>& unanswered) {
  Answers answers;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const cluster::JobRow& job = view.jobs[row];
    const core::PolicyWish* wish = wish_of(round, state, job.id);
    if (wish == nullptr) unanswered.push_back(row);
    answers.admitted.push_back(wish == nullptr || wish->admitted);
    // Who is not spoken of keeps what it has, and so comes first; without ranks the rest goes by submission.
    answers.rank.push_back(wish == nullptr ? -std::numeric_limits<double>::infinity()
                                           : wish->rank.value_or(static_cast<double>(row)));
    answers.sizes.push_back(wish == nullptr ? size_of(job.placement) : wish->size.value_or(job.size_wanted));
    answers.marks.push_back(wish == nullptr ? std::nullopt : wish->mark);
    answers.why.push_back(wish == nullptr ? Said{} : Said{wish->word, wish->numbers});
  }
  return answers;
}

class Planner final : public cluster::RowPlanner {
 public:
  explicit Planner(std::shared_ptr<const cluster::AllocationPolicy> fallback) : fallback_(std::move(fallback)) {}

 private:
  cluster::Allocation allocate(const core::PlanRequest& request, const cluster::View& view,
                               core::StepBudget& budget) const override {
    const core::ClusterState& state = request.view.state;
    if (!state.desk.answer || !state.desk.answer->fault.empty()) return fallback_->allocate(view, budget);
    budget.spend(static_cast<std::int64_t>(view.jobs.size()));
    std::vector<std::size_t> unanswered;
    const Answers answers = answers_today(*state.desk.answer, state, view, unanswered);
    cluster::Allocation allocation = host::allocate(view, answers);
    for (const std::size_t row : unanswered) {
      const double held = size_of(view.jobs[row].placement);
      allocation.grants[row].reason = {core::ReasonCode::kAwaitsPolicy, {{"size", held}}};
    }
    return allocation;
  }

  std::shared_ptr<const cluster::AllocationPolicy> fallback_;
};

}  // namespace

FilePolicy::FilePolicy(std::shared_ptr<const cluster::AllocationPolicy> fallback)
    : WholeClusterPolicy("policy file", fallback), fallback_(std::move(fallback)) {}

std::unique_ptr<core::ClusterPlanner> FilePolicy::planner() const {
  return std::make_unique<Planner>(fallback_);
}

std::shared_ptr<const cluster::AllocationPolicy> built_in_fallback() {
  return cluster::find_allocation_preset(kFallback).value().policy();
}

}  // namespace tidepool::policies::host
