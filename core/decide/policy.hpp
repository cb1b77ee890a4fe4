// What a policy is to the engine: pure code that says, of every job that runs or waits, which size it should have and
// why: its target. It keeps no memory and never sees a clock: the same view gives the same targets. The reconciler
// (reconcile/reconciler.hpp) carries targets out; it alone enforces gang minimum, allowed sizes, free slots, cooldown
// and grace.
//
//   targets = plan(view, budget)
//
// A plan made from scratch costs what there is. So that an event costs what it changes, every policy has one of two
// incremental forms, which lead to the same targets:
//   JobRule   where each job's target follows from that job alone. Nothing is kept: the engine asks about the jobs that
//             it looks at. A job may name such a policy as its own in scaling.policy (pinned policy).
//   Planner   where targets depend on each other. It may keep what follows from the state; its targets are part of the
//             state and stand until what they rest on changes (plan_inputs.hpp).
// To a Planner a job that follows a pinned policy, or has a size pinned by its user, is a fixed claim: the plan counts
// with its slots and gives them to no other job, and the rule, or the user, sizes it.
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

// What every policy sees: the state with all accepted plans carried out, and the decision's time.
// Valid during one call.
struct ClusterView {
  const ClusterState& state;
  Instant now;
};

// A place in line: the lower one starts first, equals go by their ids.
struct QueueRank {
  std::int64_t number = 0;  // such as the priority, negated
  Instant since;
  auto operator<=>(const QueueRank&) const = default;
};

// What a job in line that finds no room means for those behind it.
enum class LineRule {
  kReserves,  // what is free, or comes free, is kept for it
  kPassed,    // they may pass it
  kStrict,    // they wait behind it
};

class JobRule {
 public:
  virtual ~JobRule() = default;
  // Of a job that waits, or runs. Its size at start while it holds nothing.
  [[nodiscard]] virtual Target target(const ClusterView& view, const Job& job, StepBudget& budget) const = 0;
  // Where it stands while it waits. Follows from neither time nor other jobs, so that the engine can keep the line in
  // order (waiting_line.hpp). Here: by priority, then by submission.
  [[nodiscard]] virtual QueueRank rank(const Job& job) const;
};

// Slots, by type; a type that is not named has no bound.
using TypeBounds = std::map<std::string, int>;

struct PlanRequest {
  ClusterView view;
  const IdSet<JobId>& jobs;       // that any plan may count with, running or waiting
  const IdSet<JobId>& looked_at;  // with changed facts, or whose time has come; others, too
  // Both valid during the call. The plan counts with the job: it runs or waits, and goes on doing so.
  const std::function<bool(const Job&)>& counts;
  // It follows a pinned policy.
  const std::function<bool(const Job&)>& has_own_policy;
  std::uint64_t nodes = 0;  // digest of the nodes that a plan may count with, and of the tenants that share them
  Mark mark = {};           // the policy's own, of its newest plan
  // The jobs get no more together, however many slots there are: the part of a tenant (tenant_planner.hpp). None = all.
  std::optional<int> slots_most = std::nullopt;
  // Nor do those that ask for particular nodes, fixed claims that run left out, of these types. Null: no bounds.
  const TypeBounds* typed_most = nullptr;
  // Running jobs that keep their smallest size, as if they were not preemptible (plan_sparing). Null: none.
  const IdSet<JobId>* spared = nullptr;
};
struct PlanAnswer {
  IdTable<JobId, Target> targets;
  // One for each job that the plan counts with; else at least for those with news (cluster_planner.hpp).
  bool whole = true;
  Mark mark;
  std::optional<Instant> wake;
  int kept = 0;                            // slots that no job is given, kept for one that waits for more
  bool by_tenants = false;                 // the slots were shared among them
  std::vector<TenantChange> tenants = {};  // as in Replan
  bool counts_loans = false;
};

// A policy at work whose targets depend on each other. It may keep what follows from the state, so that a plan costs
// what has changed; two planners that have followed the same jobs to the same state lead to the same plan, whatever
// they followed before. The engine owns it; a restart makes a new one.
class Planner {
 public:
  virtual ~Planner() = default;
  // The job is new, has changed or has ended. Called for every job that changes; for one that has left the state, too,
  // of which ClusterState::ended holds what is remembered, or nothing any more.
  virtual void follow(const ClusterState& state, JobId job) = 0;
  // The newest answer, or one made by another planner of the same state, has become part of the state.
  virtual void booked() {}
  // Asked at `now` with the same nodes and bound, and with no job looked at or followed since, it would say nothing
  // that it has not said. False where that is not known.
  [[nodiscard]] virtual bool rests(Instant /*now*/) { return false; }
  // An error says why there is no lawful plan; the old one then stands.
  [[nodiscard]] virtual Result<PlanAnswer> plan(const PlanRequest& request, StepBudget& budget) = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Exactly one of the two is there.
  [[nodiscard]] virtual const JobRule* rule() const { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<Planner> planner() const { return nullptr; }

  // Targets of a Planner come with the order in which slots are handed out, and are reserved for in it.
  [[nodiscard]] virtual LineRule line_rule() const { return LineRule::kReserves; }

  // From scratch, for all jobs of the request: what the incremental forms must equal.
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

// What a size that its user has pinned is as a target, whatever the policy.
[[nodiscard]] Target pinned_target(const Job& job);

}  // namespace tidepool::core
