// What of a job has to lie together when nodes are cleared for it (node_clearing.hpp), and what is told of that.
#pragma once

#include <optional>
#include <string>

#include "core/place/clearing.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// All workers of the job are in one domain of several nodes (PlacementSpec::key).
[[nodiscard]] bool is_in_wide_domain(const JobSpec& spec);

// What of the job needs slots of one node together, at its smallest size: its workers, or those that share a node.
// None: no nodes are cleared for it. Single slots are enough where all of them are in one domain of several nodes.
[[nodiscard]] std::optional<GangSize> cleared_size(const JobSpec& spec);

// So many of its workers share a node; none: each may be on another.
[[nodiscard]] std::optional<int> sharing_a_node(const JobSpec& spec);

// Empty: it may be in several.
[[nodiscard]] std::string domain_told(const Job& job, const std::optional<std::string>& domain);

}  // namespace tidepool::core
