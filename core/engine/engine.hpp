// The whole interface of the core: four calls, no effects. The daemon and the simulator drive the same engine; neither
// is visible here.
//
//   step(fact) applies a fact; all or nothing
//   decide(now) const: what should change, and why; the same state gives the same bytes
//   accept(decision) records that the decision is journaled and will be carried out
//   view() the present state
//
// Not thread-safe: one thread owns an engine. After an error of step() the state is unchanged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/decide/stage_times.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

class Engine {
 public:
  using Parts = EngineParts;
  explicit Engine(Parts parts);
  // Continues from a recovered state.
  Engine(Parts parts, ClusterState state);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Applies one fact and returns the resulting events. On error nothing has changed.
  [[nodiscard]] Result<std::vector<Event>> step(const TimedFact& fact);

  // Decides what should change now. `now` is not before the newest fact. Examines only what has changed since the last
  // accept() and what has become due; the answer equals that of decide_from_scratch(). `times`: receives how long each
  // stage took, if given.
  [[nodiscard]] Decision decide(Instant now, StageTimes* times = nullptr) const;
  // The same, computed from scratch over all jobs; for tests, benchmarks and recovery.
  [[nodiscard]] Decision decide_from_scratch(Instant now) const;

  // Checks any plan against the state; names the first broken invariant.
  [[nodiscard]] Status validate(const Decision& decision) const;

  // Records a validated decision, also an empty one (which clears the worklist). Returns events. Requires:
  // validate(decision).ok().
  std::vector<Event> accept(const Decision& decision);

  [[nodiscard]] const ClusterState& view() const;

  // The jobs that left the state since the last call, because they ended and hold nothing, as they were after the fact
  // or the decision after which nothing depended on them.
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> take_ended();

  // When decide() could give another answer without a new fact, if ever: the next cooldown or deadline.
  [[nodiscard]] std::optional<Instant> next_due() const;

  // When the state next changes only because time passes (budgets of tenants, prices, faults of nodes, maintenance
  // windows): any fact must be applied then before the next decision. Part of next_due().
  [[nodiscard]] std::optional<Instant> clock_due() const;

  // The number of the question that must be put to the active policy file now: a plan is due without an answer, or the
  // file was not asked for EngineConfig::plan_every how many nodes pools should have. None: nothing to ask. The
  // previous plan stays in force until the answer is applied.
  [[nodiscard]] std::optional<std::int64_t> pending_policy_request(Instant now) const;

  [[nodiscard]] JobId next_job_id() const;
  // The id of the node that joined under this name before, or the next unused one.
  [[nodiscard]] NodeId node_id_for(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidepool::core
