// The whole interface of the core: four calls, no effects. The daemon and the simulator drive the
// same engine; neither is visible here.
//
//   step(fact)       learns; all or nothing
//   decide(now)      const: what should change, and why; the same state gives the same bytes
//   accept(decision) records that the decision is journaled and will be carried out
//   view()           what has been learnt
//
// Not thread-safe: one thread owns an engine. After an error of step the state is unchanged.
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
  // Goes on from a recovered state.
  Engine(Parts parts, ClusterState state);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Learns one fact and returns the events it makes. On error nothing has changed.
  [[nodiscard]] Result<std::vector<Event>> step(const TimedFact& fact);

  // What should change now. `now` is not before the newest fact. Touches only what has changed since
  // the last accept() and what has come due; the answer equals that of decide_anew().
  // `times`: told how long each stage took, if given.
  [[nodiscard]] Decision decide(Instant now, StageTimes* times = nullptr) const;
  // The same, computed from scratch over all jobs; for tests, benchmarks and recovery.
  [[nodiscard]] Decision decide_anew(Instant now) const;

  // Checks a plan against the state, whatever made it; names the first broken invariant.
  [[nodiscard]] Status validate(const Decision& decision) const;

  // Records a validated decision, empty ones too (they clear what was looked at). Returns events.
  // Requires: validate(decision).ok().
  std::vector<Event> accept(const Decision& decision);

  [[nodiscard]] const ClusterState& view() const;

  // The jobs that have ended, hold nothing more and have left the state since the last call, as they were: with the
  // fact or the decision after which nothing depended on them.
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> take_ended();

  // When decide() could answer differently with no new fact, if ever: the next cooldown or deadline.
  [[nodiscard]] std::optional<Instant> next_due() const;

  // When the state changes by the passing of time alone (budgets of tenants, prices, faults of nodes, maintenance
  // windows): a fact is to be learnt then, whatever it tells, before the next decision. Part of next_due().
  [[nodiscard]] std::optional<Instant> clock_due() const;

  // The number of the question that the active policy file is to be asked now: a plan is due, and no answer is at
  // hand, or it has not been asked for EngineConfig::plan_every how many nodes pools should have. None while nothing is
  // to be asked. Until the answer is learnt the previous plan stays in force.
  [[nodiscard]] std::optional<std::int64_t> pending_policy_request(Instant now) const;

  [[nodiscard]] JobId next_job_id() const;
  // The id of a node that has joined under this name before, or the next free one.
  [[nodiscard]] NodeId node_id_for(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidepool::core
