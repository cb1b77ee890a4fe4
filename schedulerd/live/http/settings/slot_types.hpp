// The types of slots that there are, for what operators set from a file (tenants, prices) and name a type in. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

// Of nodes that have joined, or that a pool would make.
[[nodiscard]] std::set<std::string> known_slot_types(const core::ClusterState& state);

// "no node or pool has slots of type h100; known: a100, v100"; none: there are some.
[[nodiscard]] std::optional<std::string> why_unknown_type(const std::set<std::string>& known, const std::string& type);

// A sentence for each type that tenants are guaranteed slots of and that there is not. Before the first node and pool
// there is none.
[[nodiscard]] std::vector<std::string> unknown_type_warnings(const core::ClusterState& state,
                                                             const core::TenantTree& tree);

// That the tenants at the top are guaranteed more slots than there are, or more of a type that there is. None before
// the first node and pool, and of types where a pool's nodes have what their agents report.
[[nodiscard]] std::vector<std::string> beyond_pool_warnings(const core::ClusterState& state,
                                                            const core::TenantTree& tree);

}  // namespace tidepool::live::http
