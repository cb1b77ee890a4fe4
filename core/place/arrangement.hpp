// Which node each worker of a gang goes to, where its job says how they lie among domains (PlacementSpec): together in
// one or in few of them, or apart. Deterministic: ties end at the domain's name and the lower node id.
//
// Rule: rooms are used as far as they go; a strict strategy is kept, or nothing is arranged. Within a domain a worker
// goes to a node that the job is on, else to the smallest room that takes all that are to come there; one that is
// spread to the emptiest node. Groups of workers (ElasticSpec::group) are placed one after the other, each in a domain.
#pragma once

#include <optional>
#include <vector>

#include "core/place/gang_rules.hpp"

namespace tidepool::core {

struct ArrangeRequest {
  const ClusterState& state;
  const JobSpec& spec;
  std::vector<RoomOnNode> rooms;
  std::vector<NodeId> stay = {};  // where workers of the job are already and stay, one entry each
  int workers = 1;                // whole groups
  NodeId first_on = {};           // where the first worker goes if there is room; none = anywhere
};
// One node for each worker; nothing if they do not all find room by the job's rules.
[[nodiscard]] std::optional<std::vector<NodeId>> arrange(ArrangeRequest request);

// The job's workers are placed by arrange(): others are on few nodes, whichever these are.
[[nodiscard]] inline bool is_arranged(const JobSpec& spec) {
  return spec.placement.exclusive || spec.elastic.group > 1 || spec.placement.strategy != TopologyStrategy::kPack ||
         spec.placement.key != "node";
}

}  // namespace tidepool::core
