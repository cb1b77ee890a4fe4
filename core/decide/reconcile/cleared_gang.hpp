// Which part of a job must be placed together when nodes are cleared for it (node_clearing.hpp), and how reasons name
// that.
#pragma once

#include <optional>
#include <string>

#include "core/place/clearing.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// All workers of the job are in one domain of several nodes (PlacementSpec::key).
[[nodiscard]] bool is_in_wide_domain(const JobSpec& spec);

// The part of the job that needs slots on one node together, at its smallest size: a worker, or workers that share a
// node. None: no nodes are cleared for it. Single slots are enough where all of them are in one domain of several
// nodes.
[[nodiscard]] std::optional<GangSize> cleared_size(const JobSpec& spec);

// The number of its workers that must share a node; none: each may be on a different node.
[[nodiscard]] std::optional<int> sharing_a_node(const JobSpec& spec);

// Empty: it may use several domains.
[[nodiscard]] std::string domain_told(const Job& job, const std::optional<std::string>& domain);

}  // namespace tidepool::core
