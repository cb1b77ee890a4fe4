// A policy for the whole cluster where tenants share it: one planner of the policy for each tenant with jobs, which
// hands out what that tenant is entitled to. So fairness between tenants is decided by core/tenants/entitlement.hpp,
// and which of its jobs have a tenant's slots by the policy, as if the tenant were alone.
//
// What a tenant's jobs would take at most is known only to their planner. One that was satisfied in the newest plan is
// asked without a bound; one that takes less than it is entitled to, because its jobs can use no more or a gang does
// not fit in, wants no more than that, and the rest goes to the others. So no slot that a job of any tenant would take
// is left.
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
  // What a leaf has in one division of the pool.
  struct Part {
    int share = 0;                  // slots
    std::int64_t used = 0;          // of those, by its planner's word
    bool satisfied = false;         // it could use no more
    std::optional<int> bound = {};  // of the answer that says so
  };
  using Division = std::vector<Part>;  // in the order of with_jobs_
  // Of a leaf's planner, asked with a bound.
  struct Answer {
    std::optional<int> most;                         // slots; none = without
    std::int64_t used = 0;                           // slots
    std::map<std::size_t, std::int64_t> typed = {};  // of these, by jobs that ask for types: by JobNeed::asks
  };

  // A tenant of the tree. All but its node is of no account while it has no jobs.
  struct Leaf {
    std::size_t node = 0;                   // in nodes_
    const std::string* name = nullptr;      // in index_
    std::unique_ptr<Planner> planner = {};  // null = it has no jobs
    const TenantNeeds::Sums* needs = nullptr;
    const TenantPlan* newest = nullptr;  // of the state; null = none yet
    bool changed = true;                 // a job of it has been followed since its planner was asked
    // What its planner has answered since then; all of it stands while the leaf rests and the bounds of types stay.
    std::vector<Answer> answers = {};
    std::optional<std::optional<int>> newest_answer = {};  // its bound; none = it was not asked
    TypeBounds typed_most = {};                            // what its jobs that ask for types may have of them
    std::optional<Instant> wake = {};
    // Of the plan that is being made.
    IdSet<JobId> looked_at = {};  // that its planner has not been told of yet
    IdTable<JobId, Target> targets = {};
    Mark mark = {};
    double loan = 0;
    Duration counted_use = {};
    Part part = {};
    bool expects_satisfied = false;  // it was, and has not been found to want more
    bool stuck = false;              // takes less than it was offered, and would take more than that if it could
    int lacks_slots = 0;             // it would take more, of types of which there are not enough

    [[nodiscard]] const TenantPlan& before() const;                     // the newest plan, or an empty one
    [[nodiscard]] const Answer* answer(std::optional<int> most) const;  // null = it was not asked that
    void forget_answers();
    void bound(TypeBounds bounds);
  };

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
  // What each wants by what its newest plan has found.
  void set_wishes();
  // By what it takes in the division that is being made. For one that is not satisfied: all that its jobs may have.
  void set_demands();
  [[nodiscard]] Status share_out(const PlanRequest& request, StepBudget& budget);
  void forget_answers(const PlanRequest& request);
  // The pool among tenants: as it was, or anew where that is fairer.
  [[nodiscard]] Status divide_slots(const PlanRequest& request, StepBudget& budget);
  // Divides the pool anew, by what tenants turn out to take.
  [[nodiscard]] Status divide(const PlanRequest& request, StepBudget& budget);
  // Once more, where jobs would have more of a type than there is: those of each tenant have a part of it.
  [[nodiscard]] Status divide_types(const PlanRequest& request, StepBudget& budget);
  // What jobs that ask for types have by the division that is being made, or by the newest plan.
  [[nodiscard]] std::vector<TypeAsk> typed_asks(bool by_plan = false) const;
  void bound_types(const std::vector<int>& scarce, const std::vector<SlotsByType>& parts);
  [[nodiscard]] Result<std::vector<int>> check_expectations(const PlanRequest& request, StepBudget& budget);
  [[nodiscard]] Result<bool> ask_within(Leaf& leaf, const PlanRequest& request, StepBudget& budget);
  // The division of the newest plan, with what tenants take of it now. False: it cannot stand any more.
  [[nodiscard]] Result<bool> divide_as_before(const PlanRequest& request, StepBudget& budget);
  [[nodiscard]] Result<Part> take(Leaf& leaf, int share, const PlanRequest& request, StepBudget& budget);
  // What is left goes to tenants that could use it, first to the one furthest behind what is even.
  [[nodiscard]] Status offer_rest(const FairShares& fair, const PlanRequest& request, StepBudget& budget);
  // Each is entitled to what it takes, and to what it does not lend. Returns what is left.
  std::int64_t entitle_to_used();
  [[nodiscard]] Division division() const;
  [[nodiscard]] std::vector<std::int64_t> used_by_node() const;
  // The slots that the leaf's jobs would have with this bound, by its planner's newest word.
  [[nodiscard]] Result<std::int64_t> used(Leaf& leaf, const PlanRequest& request, std::optional<int> most,
                                          StepBudget& budget);
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
  int slots_ = 0;                                 // that are shared
  bool counts_loans_ = false;
};

// Of the policy that decides. Requires: parts.tenants_share(state); `parts` outlives it.
[[nodiscard]] std::unique_ptr<TenantPlanner> make_tenant_planner(const EngineParts& parts, const ClusterState& state);

}  // namespace tidepool::core
