// Chooses the node of each worker of a gang whose job has a topology (PlacementSpec): together in one or a few domains,
// or spread. Deterministic: ties end at the domain's name and the lower node id.
//
// Rule: rooms are used as far as possible; a strict strategy is kept, or nothing is arranged. Within a domain a worker
// goes to a node that the job already uses, else to the smallest room that takes all workers placed there; a spread
// worker goes to the emptiest node. Groups of workers (ElasticSpec::group) are placed one after the other, each in one
// domain.
#pragma once

#include <optional>
#include <vector>

#include "core/place/gang_rules.hpp"

namespace tidepool::core {

struct ArrangeRequest {
  const ClusterState& state;
  const JobSpec& spec;
  std::vector<RoomOnNode> rooms;
  std::vector<NodeId> stay = {};  // nodes of the job's workers that stay, one entry each
  int workers = 1;                // whole groups
  NodeId first_on = {};           // preferred node of the first worker; none = anywhere
};
// One node for each worker; none if they do not all fit under the job's topology.
[[nodiscard]] std::optional<std::vector<NodeId>> arrange(ArrangeRequest request);

// The job's workers are placed by arrange(); other jobs are placed on few nodes, whichever these are.
[[nodiscard]] inline bool is_arranged(const JobSpec& spec) {
  return spec.placement.exclusive || spec.elastic.group > 1 || spec.placement.strategy != TopologyStrategy::kPack ||
         spec.placement.key != "node";
}

}  // namespace tidepool::core
