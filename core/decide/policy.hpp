// The interface of a policy: pure code that chooses for every running or waiting job a size and a reason: its target.
// It has no memory and no clock: the same view gives the same targets. The reconciler (reconcile/reconciler.hpp)
// carries targets out; it alone enforces gang minimum, allowed sizes, free slots, cooldown and grace.
//
//   targets = plan(view, budget)
//
// A plan made from scratch costs time proportional to the cluster. To make the cost of an event proportional to what it
// changes, every policy has one of two incremental forms, which give the same targets:
//   JobRule each job's target depends on that job alone. Nothing is kept: the engine asks about the jobs that it
//             examines. A job may select such a policy for itself in scaling.policy (pinned policy).
//   Planner targets depend on each other. A planner may keep data derived from the state; its targets are part of the
//             state and stay in force until their inputs change (plan_inputs.hpp).
// A Planner treats a job with a pinned policy, or with a size pinned by its user, as a fixed allocation: it reserves
// the job's slots and leaves the size to that policy or user.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/decide/step_budget.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// The input of every policy: the state with all accepted plans carried out, and the decision's time. Valid during one
// call.
struct ClusterView {
  const ClusterState& state;
  Instant now;
};

// A position in the queue: the lower one starts first, equal ones are ordered by id.
struct QueueRank {
  std::int64_t number = 0;  // such as the priority, negated
  Instant since;
  auto operator<=>(const QueueRank&) const = default;
};

// How a job in line without room affects the jobs behind it.
enum class LineRule {
  kReserves,  // free and released slots are reserved for it
  kPassed,    // they may start before it
  kStrict,    // they wait for it
};

class JobRule {
 public:
  virtual ~JobRule() = default;
  // The target of a waiting or running job. For a waiting job its size is the size at start.
  [[nodiscard]] virtual Target target(const ClusterView& view, const Job& job, StepBudget& budget) const = 0;
  // The job's position while it waits. Must not depend on time or other jobs, so that the engine can keep the line
  // sorted (waiting_line.hpp). Default: by priority, then by submission.
  [[nodiscard]] virtual QueueRank rank(const Job& job) const;
};

// Slots by type; a missing type has no bound.
using TypeBounds = std::map<std::string, int>;

struct PlanRequest {
  ClusterView view;
  const IdSet<JobId>& jobs;       // jobs that a plan may include, running or waiting
  const IdSet<JobId>& looked_at;  // jobs with changed facts or due times; may contain others
  // Both are valid during the call. counts(): the plan includes the job, which runs or waits and will continue to.
  const std::function<bool(const Job&)>& counts;
  // The job follows a pinned policy.
  const std::function<bool(const Job&)>& has_own_policy;
  std::uint64_t nodes = 0;  // digest of the usable nodes and of how tenants share them
  Mark mark = {};           // the policy's own mark in its newest plan
  // The most slots for all jobs together: the part of a tenant (tenant_planner.hpp). None = all.
  std::optional<int> slots_most = std::nullopt;
  // The most slots by type for jobs that request particular nodes, without running fixed allocations. Null: no bounds.
  const TypeBounds* typed_most = nullptr;
  // Running jobs that keep their smallest size, as if they were not preemptible (plan_sparing). Null: none.
  const IdSet<JobId>* spared = nullptr;
};
struct PlanAnswer {
  IdTable<JobId, Target> targets;
  // True: one target for each included job; false: at least for those with changes (cluster_planner.hpp).
  bool whole = true;
  Mark mark;
  std::optional<Instant> wake;
  int kept = 0;                            // unallocated slots, reserved for a job that waits for more
  bool by_tenants = false;                 // the slots were shared among them
  std::vector<TenantChange> tenants = {};  // as in Replan
  bool counts_loans = false;
};

// An active policy whose targets depend on each other. It may keep data derived from the state, so that a plan costs
// what has changed. Two planners that have followed the same jobs to the same state make the same plan, whatever they
// followed before. The engine owns it; a restart creates a new one.
class Planner {
 public:
  virtual ~Planner() = default;
  // Called for every job that was added, changed or ended; also for one that has left the state, of which
  // ClusterState::ended has the summary, or nothing any more.
  virtual void follow(const ClusterState& state, JobId job) = 0;
  // The newest answer, or an answer of another planner for the same state, has become part of the state.
  virtual void booked() {}
  // True: a plan at `now` with the same nodes and bound, and with no job examined or followed since, would say nothing
  // new. False if that is unknown.
  [[nodiscard]] virtual bool rests(Instant /*now*/) { return false; }
  // An error says why there is no valid plan; the old one then stays in force.
  [[nodiscard]] virtual Result<PlanAnswer> plan(const PlanRequest& request, StepBudget& budget) = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Exactly one of the two is provided.
  [[nodiscard]] virtual const JobRule* rule() const { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<Planner> planner() const { return nullptr; }

  // Targets of a Planner carry the order in which slots are allocated and reserved.
  [[nodiscard]] virtual LineRule line_rule() const { return LineRule::kReserves; }

  // Plans from scratch, for all jobs of the request: the reference for the incremental forms.
  [[nodiscard]] Result<PlanAnswer> plan(const PlanRequest& request, StepBudget& budget) const;
};

// A rule as a policy.
class RulePolicy : public Policy {
 public:
  RulePolicy(std::string name, std::unique_ptr<const JobRule> rule, LineRule line_rule)
      : name_(std::move(name)), rule_(std::move(rule)), line_rule_(line_rule) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const JobRule* rule() const override { return rule_.get(); }
  [[nodiscard]] LineRule line_rule() const override { return line_rule_; }

 private:
  std::string name_;
  std::unique_ptr<const JobRule> rule_;  // never null
  LineRule line_rule_;
};

// The target for a size pinned by the user, under any policy.
[[nodiscard]] Target pinned_target(const Job& job);

}  // namespace tidepool::core
