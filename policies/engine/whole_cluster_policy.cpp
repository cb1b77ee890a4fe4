#include "policies/engine/whole_cluster_policy.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/place/node_wait.hpp"
#include "core/state/job_state.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/engine/engine_rows.hpp"
#include "policies/engine/lawful_plan.hpp"
#include "policies/engine/type_shares.hpp"

namespace tidepool::policies::cluster {
namespace {

// Without a slot there is nothing to ask a policy about.
Allocation nothing(const View& view) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    allocation.order.push_back(row);
    allocation.grants[row].reason = core::reason::NoNodes{};
    allocation.grants[row].mark = view.jobs[row].mark;
  }
  allocation.mark = view.mark;
  return allocation;
}

// What is asked in the second place, where deadlines were declined: those jobs without them, all others as before.
// No jobs: nothing was declined.
View without_lost_deadlines(const View& view, const Allocation& allocation) {
  const auto& grants = allocation.grants;
  if (std::none_of(grants.begin(), grants.end(), [](const Grant& grant) { return grant.declined; })) return {};
  View easier = view;
  for (std::size_t row = 0; row < grants.size(); ++row) {
    if (grants[row].declined) easier.jobs[row].deadline.reset();
  }
  return easier;
}

// A job that waits with a lost deadline says so, whatever else keeps it waiting; it is declined no more.
void tell_of_lost_deadlines(const Allocation& promised, Allocation& allocation) {
  for (std::size_t row = 0; row < promised.grants.size(); ++row) {
    Grant& grant = allocation.grants[row];
    if (!promised.grants[row].declined) continue;
    grant.mark = promised.grants[row].mark;
    if (grant.size == 0) grant.reason = promised.grants[row].reason;
  }
}

class Planner final : public RowPlanner {
 public:
  explicit Planner(std::shared_ptr<const AllocationPolicy> policy) : policy_(std::move(policy)) {}

 private:
  Allocation allocate(const core::PlanRequest&, const View& view, core::StepBudget& budget) const override {
    return policy_->allocate(view, budget);
  }

  std::shared_ptr<const AllocationPolicy> policy_;
};

}  // namespace

Result<core::PlanAnswer> RowPlanner::plan(const core::PlanRequest& request, core::StepBudget& budget) {
  for (const JobId job : std::exchange(followed_, {})) (void)rows_.follow(request.view.state, job);
  EngineRows::Rows rows = rows_.rows(request);
  const auto ask = [&](const View& view) { return view.slots() > 0 ? allocate(request, view, budget) : nothing(view); };
  const std::map<JobId, core::Target> without = share_types(rows.view, ask, request.typed_most);
  Allocation allocation = ask(rows.view);
  if (Status lawful = check_allocation(rows.view, allocation); !lawful) return lawful.error();
  if (const View easier = without_lost_deadlines(rows.view, allocation); !easier.jobs.empty()) {
    const Allocation promised = std::exchange(allocation, ask(easier));
    if (Status lawful = check_allocation(easier, allocation); !lawful) return lawful.error();
    tell_of_lost_deadlines(promised, allocation);
  }
  const std::vector<core::Target> plan = lawful_plan(rows.view, allocation, rows.capacity);
  core::PlanAnswer answer{.targets = {}, .mark = allocation.mark, .wake = allocation.wake};
  for (std::size_t row = 0; row < plan.size(); ++row) answer.targets.emplace(rows.view.jobs[row].id, plan[row]);
  answer.targets.insert(without.begin(), without.end());
  for (const auto& [id, cluster] : rows.misfits) {
    const core::ClusterState& state = request.view.state;
    const core::Reason never = core::never_fits(state, *state.find_job(id), cluster, true);
    answer.targets.emplace(id, core::Target{.reason = never, .lost = {}, .mark = {}});
  }
  for (const JobId id : rows.claims) answer.targets.emplace(id, claim_of(*request.view.state.find_job(id)));
  return answer;
}

std::unique_ptr<core::Planner> planner_of(std::shared_ptr<const AllocationPolicy> policy) {
  return std::make_unique<Planner>(std::move(policy));
}

core::Target claim_of(const core::Job& job) {
  const bool pinned = job.requests.pinned_size > 0;
  const int size = pinned ? job.requests.pinned_size : core::allowed_size(job, job.spec.elastic.preferred);
  core::Target claim{.size = size, .place = -1, .reason = core::reason::FixedSize{{.size = size}}, .lost = {}};
  if (pinned) claim.reason = core::reason::PinnedByUser{{.size = size}};
  return claim;
}

WholeClusterPolicy::WholeClusterPolicy(std::string name, std::shared_ptr<const AllocationPolicy> policy)
    : name_(std::move(name)), policy_(std::move(policy)) {
  TP_CHECK(policy_ != nullptr, "a policy for the whole cluster has its rule");
}

std::unique_ptr<core::Planner> WholeClusterPolicy::planner() const {
  return planner_of(policy_);
}

}  // namespace tidepool::policies::cluster
