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
#include "schedulerd/core/cluster_state.hpp"
#include "schedulerd/core/event.hpp"
#include "schedulerd/core/fact.hpp"
#include "schedulerd/core/plan.hpp"
#include "schedulerd/core/policy.hpp"
#include "schedulerd/core/stage_times.hpp"
#include "schedulerd/core/straggler_detector.hpp"

namespace tidepool::core {

struct EngineConfig {
  std::int64_t step_budget = 50'000'000;            // counted steps for one decide()
  Duration start_timeout = Duration::seconds(120);  // a worker not ready by then has failed
  Duration switch_timeout =
      Duration::seconds(120);                       // a committed generation without any sign of life for so long hangs
  Duration finish_patience = Duration::seconds(5);  // for the report of the end, once a member has exited with 0
  Duration plan_every = Duration::seconds(60);  // a policy for the whole cluster plans again at the latest after this
  bool replace_stragglers = true;
  bool rebalance_stragglers = true;  // a slow worker gets a smaller share first; only with replace_stragglers
};

class Engine {
 public:
  // `policies` maps each name a job may ask for in scaling.policy to its policy; the entry "default"
  // must exist and orders the queue. `detector` judges the jobs that ask for none by name, `detectors` maps the names
  // that they may ask for. Policies and detectors are shared and immutable.
  struct Parts {
    std::map<std::string, std::shared_ptr<const Policy>> policies;
    std::shared_ptr<const StragglerDetector> detector;
    EngineConfig config = {};
    std::map<std::string, std::shared_ptr<const StragglerDetector>> detectors = {};
    // Plans by what the active policy file has answered (policy_desk.hpp). Null = policy files are not followed here.
    std::shared_ptr<const Policy> file_policy = nullptr;

    // Null for a job that is not to be judged.
    [[nodiscard]] const StragglerDetector* detector_for(const JobSpec& spec) const;
    // A policy file decides, and not the policy called "default".
    [[nodiscard]] bool file_decides(const ClusterState& state) const;
    // The policy that decides, and its name: "tidal", or "capped@0123456789ab" of a file.
    [[nodiscard]] const Policy& in_charge(const ClusterState& state) const;
    [[nodiscard]] std::string name_in_charge(const ClusterState& state) const;
  };
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

  // When decide() could answer differently with no new fact, if ever: the next cooldown or deadline.
  [[nodiscard]] std::optional<Instant> next_due() const;

  // The number of the question that the active policy file is to be asked now: a plan is due, and no answer is at
  // hand. None while nothing is to be asked. Until the answer is learnt the plan before it stands.
  [[nodiscard]] std::optional<std::int64_t> question(Instant now) const;

  [[nodiscard]] JobId next_job_id() const;
  // The id of a node that has joined under this name before, or the next free one.
  [[nodiscard]] NodeId node_id_for(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidepool::core
