#include "policies/cluster/whole_cluster_policy.hpp"

#include <utility>

#include "base/check.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/cluster/engine_rows.hpp"
#include "policies/cluster/lawful_plan.hpp"
#include "policies/order/fifo.hpp"
#include "schedulerd/core/queue_planner.hpp"

namespace tidepool::policies::cluster {
namespace {

// Without a slot there is nothing to ask a policy about.
Allocation nothing(const View& view) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    allocation.order.push_back(row);
    allocation.grants[row].reason = {core::ReasonCode::kNoNodes, {}};
    allocation.grants[row].mark = view.jobs[row].mark;
  }
  allocation.mark = view.mark;
  return allocation;
}

class Planner final : public RowPlanner {
 public:
  Planner(std::shared_ptr<const AllocationPolicy> policy, RowStyle style)
      : RowPlanner(style), policy_(std::move(policy)) {}

 private:
  Allocation allocate(const core::PlanRequest&, const View& view, core::StepBudget& budget) const override {
    return policy_->allocate(view, budget);
  }

  std::shared_ptr<const AllocationPolicy> policy_;
};

}  // namespace

Result<core::PlanAnswer> RowPlanner::plan(const core::PlanRequest& request, core::StepBudget& budget) {
  const EngineRows::Rows rows = rows_.rows(request);
  const Allocation allocation = rows.view.slots() > 0 ? allocate(request, rows.view, budget) : nothing(rows.view);
  if (Status lawful = check_allocation(rows.view, allocation); !lawful) return lawful.error();
  const std::vector<core::Allotment> plan = lawful_plan(rows.view, allocation, rows.capacity);
  core::PlanAnswer answer{.allotments = {}, .mark = allocation.mark, .wake = allocation.wake};
  for (std::size_t row = 0; row < plan.size(); ++row) answer.allotments.emplace(rows.view.jobs[row].id, plan[row]);
  for (const JobId id : rows.claims) answer.allotments.emplace(id, claim_of(*request.view.state.find_job(id)));
  return answer;
}

std::unique_ptr<core::ClusterPlanner> planner_of(std::shared_ptr<const AllocationPolicy> policy, RowStyle style) {
  return std::make_unique<Planner>(std::move(policy), style);
}

core::Allotment claim_of(const core::Job& job) {
  const bool pinned = job.pinned_size > 0;
  const int size = pinned ? job.pinned_size : core::allowed_size(job, job.spec.elastic.preferred);
  const auto code = pinned ? core::ReasonCode::kPinnedByUser : core::ReasonCode::kFixedSize;
  return {.size = size, .place = -1, .reason = {code, {{"size", double(size)}}}, .lost = {}, .mark = {}};
}

WholeClusterPolicy::WholeClusterPolicy(std::string name, std::shared_ptr<const AllocationPolicy> policy)
    : name_(std::move(name)), policy_(std::move(policy)) {
  TP_CHECK(policy_ != nullptr, "a policy for the whole cluster has its rule");
}

std::unique_ptr<core::ClusterPlanner> WholeClusterPolicy::planner() const {
  return planner_of(policy_);
}

std::vector<JobId> WholeClusterPolicy::order(const core::ClusterView& view, core::StepBudget& budget) const {
  return Fifo().order(view, budget);
}

core::SizeWish WholeClusterPolicy::size(const core::ClusterView&, const core::Job& job, core::StepBudget&) const {
  const int held = job.size();
  if (held == 0) return {job.id, 0, {core::ReasonCode::kPolicyFailed, {}}, {}};
  return {job.id, held, {core::ReasonCode::kFixedSize, {{"size", double(held)}}}, {}};
}

}  // namespace tidepool::policies::cluster
