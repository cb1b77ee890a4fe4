// A policy for the whole cluster where tenants share it: one planner of the policy for each tenant with jobs, which
// hands out what that tenant is entitled to. So fairness between tenants is decided by core/tenants/entitlement.hpp,
// and which of its jobs have a tenant's slots by the policy, as if the tenant were alone.
//
// How the pool is divided by what these planners answer is in pool_division.hpp.
//
// A policy file in charge may claim parts of the surplus for tenants (PolicyRound::claims). They are read by the names
// of tenants, for the plan that is made of the file's answer.
//
// Rules. The answer follows from the state and the time: what is remembered from plan to plan (TenantPlan) is part of
// the state. What could not be had back, of fixed claims and of jobs that must not be preempted, starts only within the
// guarantees of its tenant and those above it (tenant_needs.hpp).
//
// An event costs the tenants that it touches, and a few steps along a row for each other one with jobs: a planner that
// rests (Planner::rests) is not asked again with a bound for which it has answered. Tenants learn from their own jobs
// alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/decide/policy.hpp"
#include "core/decide/tenant_leaf.hpp"
#include "core/place/least_price.hpp"
#include "core/tenants/asked_types.hpp"
#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {

class TenantPlanner final : public Planner {
 public:
  enum class ClaimsOf { kNone, kPolicyFile };
  // The policy outlives it and has planners.
  TenantPlanner(const Policy& policy, ClaimsOf claims) : policy_(policy), claims_of_(claims) {}

  void follow(const ClusterState& state, JobId job) override;
  void booked() override;
  [[nodiscard]] Result<PlanAnswer> plan(const PlanRequest& request, StepBudget& budget) override;

 private:
  using Leaf = TenantLeaf;

  void look_at_tree(const PlanRequest& request);
  void read(const PlanRequest& request, const IdSet<JobId>& jobs);
  void set_leaves(const PlanRequest& request);
  // After tenants have got their first jobs or lost their last ones.
  void find_leaves_with_jobs(const ClusterState& state);
  void look_up_newest(const ClusterState& state);
  [[nodiscard]] std::optional<std::size_t> place_of(const std::string& tenant) const;
  // The tenant's planner looks at the job again, if the tenant has one.
  void tell(std::optional<std::size_t> tenant, const ClusterState& state, JobId job);
  // Planners do not count with jobs beyond their guarantees (firm_claims.hpp).
  void hold_back(const ClusterState& state);
  void count_loans(const PlanRequest& request);
  // Those of the policy file's answer, where one is in charge; of tenants that the tree does not have they are nothing.
  void set_claims(const ClusterState& state);
  [[nodiscard]] Status share_out(const PlanRequest& request, StepBudget& budget);
  void forget_answers(const PlanRequest& request);
  [[nodiscard]] Status ask(Leaf& leaf, const PlanRequest& request, std::optional<int> most, StepBudget& budget);
  [[nodiscard]] PlanAnswer joined(const PlanRequest& request);

  const Policy& policy_;
  const ClaimsOf claims_of_;
  std::optional<std::uint64_t> tree_;  // PlanRequest::nodes for which the rest was made
  bool may_spare_ = false;             // some job (preemption_limits.hpp)
  std::vector<TenantNode> nodes_;
  TenantPlaces index_;
  std::vector<Leaf> leaves_;          // by node; those of inner tenants have no jobs
  std::vector<Leaf*> with_jobs_;      // by name
  std::vector<std::string> without_;  // that have a plan in the state and no jobs any more
  TenantNeeds needs_;
  AskedTypes types_;
  LeastPrices least_prices_;
  std::uint64_t needs_revision_ = 0;  // for which with_jobs_ was found
  IdSet<JobId> followed_;
  std::map<JobId, Reason> held_back_;
  IdTable<JobId, std::string> tenants_of_ended_;  // of jobs that have left the state and are remembered
  bool counts_loans_ = false;
};

// Of the policy that decides. Requires: parts.tenants_share(state); `parts` outlives it.
[[nodiscard]] std::unique_ptr<TenantPlanner> make_tenant_planner(const EngineParts& parts, const ClusterState& state);

}  // namespace tidepool::core
