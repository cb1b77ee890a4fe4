// What an engine is built from: its policies, its straggler detectors and its settings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "core/decide/policy.hpp"
#include "core/facts/straggler_detector.hpp"
#include "core/provision/provision_rule.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

struct EngineConfig {
  std::int64_t step_budget = 50'000'000;            // counted steps for one decide()
  Duration start_timeout = Duration::seconds(120);  // a worker not ready by then has failed
  Duration switch_timeout =
      Duration::seconds(120);                       // a committed generation that shows no progress for this long hangs
  Duration finish_patience = Duration::seconds(5);  // for the report of the end, once a member has exited with 0
  Duration plan_every = Duration::seconds(60);      // the longest time between two plans for the whole cluster
  bool replace_stragglers = true;
  bool rebalance_stragglers = true;  // a slow worker gets a smaller share first; only with replace_stragglers
};

// `policies` maps each name that a job may set in scaling.policy to its policy; the entry "default" must exist and
// orders the queue. Policies and detectors are shared and immutable.
struct EngineParts {
  std::map<std::string, std::shared_ptr<const Policy>> policies;
  StragglerDetectors stragglers;
  EngineConfig config = {};
  // Plans from the newest answer of the active policy file (policy_deployment.hpp). Null = policy files are not
  // supported here.
  std::shared_ptr<const Policy> file_policy = nullptr;
  // Decides which nodes of pools are created and given back. Null = the built-in rule (provision_stage.hpp), as in
  // every daemon.
  std::shared_ptr<const ProvisionRule> provision = nullptr;

  // A policy file decides instead of the policy called "default".
  [[nodiscard]] bool file_decides(const ClusterState& state) const;
  // The pool is divided by the tree of tenants (tenant_planner.hpp): a tree is set, and the active policy plans for all
  // jobs. A policy file does so only if it has the hook `share`.
  [[nodiscard]] bool tenants_share(const ClusterState& state) const;
  // When the active policy file must be asked how many nodes pools should have, though no plan is due. None: it does
  // not size pools, or there are no pools.
  [[nodiscard]] std::optional<Instant> next_pools_question(const ClusterState& state) const;
  // The active policy, and its name: "tidal", or "capped@0123456789ab" for a file.
  [[nodiscard]] const Policy& active_policy(const ClusterState& state) const;
  [[nodiscard]] std::string active_policy_name(const ClusterState& state) const;
};

}  // namespace tidepool::core
