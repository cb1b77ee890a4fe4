// The tenants of a state in the form that the computation of shares uses (entitlement.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/tenants/entitlement.hpp"

namespace tidepool::core {

using TenantPlaces = std::map<std::string, std::size_t, std::less<>>;  // in the tree, by name

[[nodiscard]] TenantPlaces places_of(const TenantTree& tree);
// By index. No wanted slots yet.
[[nodiscard]] std::vector<TenantNode> nodes_of(const TenantTree& tree, const TenantPlaces& places);

// The same with the wanted slots and loans of the newest plan.
[[nodiscard]] std::vector<TenantNode> nodes_as_planned(const ClusterState& state, const TenantPlaces& places);

// Slots that a plan hands out, or that jobs hold on nodes that accept no other workers.
[[nodiscard]] int slots_to_share(const ClusterState& state);

}  // namespace tidepool::core
