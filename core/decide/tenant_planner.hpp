// A policy for the whole cluster shared by tenants: one planner of the policy for each tenant with jobs, which
// allocates that tenant's entitlement. Fairness between tenants is decided by core/tenants/entitlement.hpp, and which
// of a tenant's jobs get its slots by the policy, as if the tenant were alone.
//
// pool_division.hpp divides the pool by what these planners answer.
//
// An active policy file may claim parts of the surplus for tenants (PolicyRound::claims). Claims are matched by the
// tenants' names, for the plan made from the file's answer.
//
// Rules. The answer follows from the state and the time: everything remembered between plans (TenantPlan) is part of
// the state. Slots that could not be reclaimed, of fixed allocations and of non-preemptible jobs, are allocated only
// within the guarantees of the tenant and those above it (tenant_needs.hpp).
//
// The cost of an event is that of the tenants that it touches, plus a few steps along a row for each other tenant with
// jobs: a planner that rests (Planner::rests) is not asked again with a bound that it has answered. Tenants learn from
// their own jobs only.
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
  // Call after tenants got their first jobs or lost their last ones.
  void find_leaves_with_jobs(const ClusterState& state);
  void look_up_newest(const ClusterState& state);
  [[nodiscard]] std::optional<std::size_t> place_of(const std::string& tenant) const;
  // Lets the tenant's planner, if it has one, examine the job again.
  void tell(std::optional<std::size_t> tenant, const ClusterState& state, JobId job);
  // Keeps jobs beyond their guarantees from planners (firm_claims.hpp).
  void hold_back(const ClusterState& state);
  void count_loans(const PlanRequest& request);
  // Sets the claims of an active policy file; claims of unknown tenants are ignored.
  void set_claims(const ClusterState& state);
  [[nodiscard]] Status share_out(const PlanRequest& request, StepBudget& budget);
  void forget_answers(const PlanRequest& request);
  [[nodiscard]] Status ask(Leaf& leaf, const PlanRequest& request, std::optional<int> most, StepBudget& budget);
  [[nodiscard]] PlanAnswer joined(const PlanRequest& request);

  const Policy& policy_;
  const ClaimsOf claims_of_;
  std::optional<std::uint64_t> tree_;  // PlanRequest::nodes for which the fields below were built
  bool may_spare_ = false;             // some job may need sparing (preemption_limits.hpp)
  std::vector<TenantNode> nodes_;
  TenantPlaces index_;
  std::vector<Leaf> leaves_;          // by node; inner tenants have no jobs
  std::vector<Leaf*> with_jobs_;      // by name
  std::vector<std::string> without_;  // tenants with a plan in the state and no jobs any longer
  TenantNeeds needs_;
  AskedTypes types_;
  LeastPrices least_prices_;
  std::uint64_t needs_revision_ = 0;  // for which with_jobs_ was computed
  IdSet<JobId> followed_;
  std::map<JobId, Reason> held_back_;
  IdTable<JobId, std::string> tenants_of_ended_;  // of jobs that left the state and have a summary
  bool counts_loans_ = false;
};

// For the active policy. Requires: parts.tenants_share(state); `parts` outlives it.
[[nodiscard]] std::unique_ptr<TenantPlanner> make_tenant_planner(const EngineParts& parts, const ClusterState& state);

}  // namespace tidepool::core
