// The rule by which nodes of pools are created and removed. The daemon has one, the built-in rule
// (provision_stage.hpp); studies replace it for comparison. Whatever the rule, the validator checks its plans.
#pragma once

#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// Pure: the same state and time give the same plan.
class ProvisionRule {
 public:
  virtual ~ProvisionRule() = default;
  [[nodiscard]] virtual std::vector<PlannedNode> plan(const ClusterState& state, Instant now) const = 0;
  // The first time after `after` at which something may become due by time alone.
  [[nodiscard]] virtual std::optional<Instant> next_due(const ClusterState& state,
                                                        std::optional<Instant> after) const = 0;
};

}  // namespace tidepool::core
