// What a policy is to the engine: pure code that ranks jobs and says which size each should have and
// why. It keeps no memory and never sees a clock: the same view gives the same answer. The engine
// alone enforces gang minimum, allowed sizes, free slots, cooldown, grace and rate limits.
//
// A policy either sizes one job at a time (order and size, asked whenever a job is looked at), or plans for the whole
// cluster: then the engine keeps its plan in the state and follows it, job by job, until the plan's grounds change
// (plan_grounds.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
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
  const IdSet<JobId>* pending = nullptr;  // the jobs that wait, if the caller has them at hand; else look
};

// A place in the queue that follows from the job alone: the lower one starts first, equals go by their ids.
struct QueueRank {
  std::int64_t number = 0;  // such as the priority, negated
  Instant since;
  auto operator<=>(const QueueRank&) const = default;
};

// The size a job should have; 0 = should hold nothing now.
struct SizeWish {
  JobId job;
  int size = 0;
  Reason reason;
  std::vector<Alternative> lost;
  double score = 0;  // of this size, as those of the sizes that lost
};

// How a plan for the whole cluster counts with a job.
enum class PlanPart {
  kNone,    // not at all: it has ended, is suspended, or will be
  kSized,   // it runs or waits, and is to be given a size
  kOwnWay,  // likewise, but it follows a policy of its own: a fixed claim
};

struct PlanRequest {
  ClusterView view;
  const IdSet<JobId>& jobs;                            // whoever any plan may count with, running or waiting
  const IdSet<JobId>& looked_at;                       // whose facts have changed or whose time has come; others, too
  const std::function<PlanPart(const Job&)>& part_of;  // valid during the call
  std::uint64_t nodes = 0;                             // digest of the nodes that a plan may count with
};
struct PlanAnswer {
  IdTable<JobId, Allotment> allotments;
  // One for each job that the plan counts with; else for those at least of whom there is news (cluster_planner.hpp).
  bool whole = true;
  Mark mark;
  std::optional<Instant> wake;
};

// A policy for the whole cluster at work. It may keep what follows from the state, so that a plan costs what has
// changed; two planners that have followed the same jobs to the same state lead to the same plan, whatever they
// followed before. The engine owns it; a restart makes a new one.
class ClusterPlanner {
 public:
  virtual ~ClusterPlanner() = default;
  // The job is new, has changed or has ended. Called for every job that changes; for one that has left the state, too,
  // of whom ClusterState::ended holds what is remembered, or nothing any more.
  virtual void follow(const ClusterState& state, JobId job) = 0;
  // The newest answer, or one made by another planner of the same state, has become part of the state.
  virtual void booked() {}
  // An error says why there is no lawful plan; the old one then stands.
  [[nodiscard]] virtual Result<PlanAnswer> plan(const PlanRequest& request, StepBudget& budget) = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // The jobs that wait, in the order in which they should start. Every pending job appears once.
  [[nodiscard]] virtual std::vector<JobId> order(const ClusterView& view, StepBudget& budget) const = 0;

  // What order() sorts by, where that follows from each job alone and neither from time nor from other jobs: the engine
  // then keeps the queue in order and looks only at jobs that an event can help (waiting_line.hpp). None: order() is
  // asked each time. Either for all jobs or for none.
  [[nodiscard]] virtual std::optional<QueueRank> rank(const Job& /*job*/) const { return std::nullopt; }

  // Whether a job that does not fit keeps the ones behind it waiting (strict queue).
  [[nodiscard]] virtual bool strict_order() const = 0;

  // The size that `job` should have. Called for waiting jobs (their start size) and running ones.
  [[nodiscard]] virtual SizeWish size(const ClusterView& view, const Job& job, StepBudget& budget) const = 0;

  // False for a policy that sizes one job at a time. Of one that plans for the whole cluster, order() is not asked, and
  // size() only about jobs that its plan does not name.
  [[nodiscard]] virtual bool plans_cluster() const { return false; }
  // Not null if it plans for the whole cluster.
  [[nodiscard]] virtual std::unique_ptr<ClusterPlanner> planner() const { return nullptr; }
};

}  // namespace tidepool::core
