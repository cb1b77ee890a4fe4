// The rule of the usual autoscalers of nodes, to compare the built-in one with: a job that has waited for longer than
// a time and does not fit gets as many nodes as it lacks, and a node that has held nothing for longer than its pool's
// idle time is given back. Kubernetes' cluster autoscaler works so (its --scale-down-unneeded-time is the idle time).
// It empties no node, and gives none to jobs that run.
//
// What holds for every rule (core/provision/node_orders.hpp) holds for it, too, and nodes on which a gang is to start
// that awaits more are kept.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/provision/provision_rule.hpp"

namespace tidepool::studies {

class ThresholdNodes final : public core::ProvisionRule {
 public:
  // For so long a job waits before nodes are asked for, >= 0.
  explicit ThresholdNodes(Duration patience) : patience_(patience) {}

  [[nodiscard]] std::vector<core::PlannedNode> plan(const core::ClusterState& state, Instant now) const override;
  [[nodiscard]] std::optional<Instant> next_due(const core::ClusterState& state,
                                                std::optional<Instant> after) const override;

 private:
  Duration patience_;
};

// "built-in" gives null, which stands for the engine's own rule; "threshold:60s" the above with that patience.
[[nodiscard]] Result<std::shared_ptr<const core::ProvisionRule>> provision_rule_of(std::string_view text);

}  // namespace tidepool::studies
