// Which nodes of pools are created, emptied and given back now, and why. The last stage of a decision, made only where
// no job changes: what jobs free or take is known then.
//
// Rules. A pool never has more nodes than it may, counting those that are on their way out, because they cost money
// until they are gone. A node is asked for if a gang that waits fits with it (and with what else is asked for) and not
// without, or if what it brings to a job that runs is worth more than its price; each node that is on its way counts
// as there. A gang for which jobs that run make room, and lose less by it than a node costs, gets none unless it has
// waited for as long as one takes to come. A node is given back when it has held nothing for long enough, and emptied
// first if it holds something: where its workers have room elsewhere, or jobs lose less without it than it costs. Of
// nodes that were asked for together none is given back for holding nothing while another of them is still coming, or
// has failed to come for the first time and is asked for again.
// Of a pool of which a policy file says how many nodes it should have, so many are there, as far as the pool's bounds,
// the share of spot nodes and the wait after failed attempts allow: one too many is given back or emptied as above,
// whatever it is worth, and none is asked for beyond.
// After a pool has given a node back it asks for another only when something has happened outside of the engine; that
// a provider ends a node is such a thing, and so is what a policy file wants.
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

// The nodes that the policy file wants, within the bounds that the pool has now.
[[nodiscard]] int wanted_of(const PoolWish& wish, const PoolSpec& spec);

// Names the first rule that these break.
[[nodiscard]] std::optional<std::string> broken_node_rule(const ClusterState& state,
                                                          const std::vector<PlannedNode>& nodes);

}  // namespace tidepool::core
