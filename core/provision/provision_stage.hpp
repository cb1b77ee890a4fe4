// Which nodes of pools are created, emptied and released now, and why. The last stage of a decision, reached only if no
// job changes: the slots that jobs release or take are known by then.
//
// Rules. A pool never has more nodes than its maximum, including nodes that are leaving, because they cost money until
// they are deleted. A node is requested if a waiting gang fits with it (and with the other requested nodes) but not
// without it, or if its gain for a running job is worth more than its price; each coming node counts as present. If
// running jobs can make room for a gang at a smaller loss than the cost of a node, the gang gets no node until it has
// waited for as long as a node takes to come. A node is released when it has held nothing for long enough. A node that
// holds workers is emptied first, if its workers have room elsewhere, or if the loss of jobs without it is smaller than
// its cost. Of nodes that were requested together none is released for holding nothing while another of them is still
// coming, or has failed to come for the first time and is requested again.
// If a policy file states how many nodes a pool should have, the pool gets that number, as far as the pool's bounds,
// the share of spot nodes and the wait after failed attempts allow: an excess node is released or emptied as above,
// whatever its worth, and no node is requested beyond the number.
// After a pool has released a node it requests another only when something has happened outside of the engine, such as
// a provider that ends a node, or a request of a policy file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/provision/provision_rule.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

[[nodiscard]] std::shared_ptr<const ProvisionRule> built_in_rule();

// The nodes that the policy file wants, within the pool's present bounds.
[[nodiscard]] int wanted_of(const PoolTarget& target, const PoolSpec& spec);

// Returns the name of the first broken rule.
[[nodiscard]] std::optional<std::string> broken_node_rule(const ClusterState& state,
                                                          const std::vector<PlannedNode>& nodes);

}  // namespace tidepool::core
