// What the rows of an engine expect of each job of a state, for tests that compare rows that were kept with new ones.
#pragma once

#include <map>

#include "core/state/cluster_state.hpp"
#include "policies/engine/engine_rows.hpp"

namespace tidepool::test {

inline core::ClusterState one_node_state(std::size_t slots) {
  core::ClusterState state;
  core::Node node{.id = NodeId(1), .name = "n"};
  node.owners.resize(slots);
  state.nodes[node.id] = std::move(node);
  return state;
}

// Expected goodput of each job with `size` slots on one node.
inline std::map<JobId, double> goodputs(const core::ClusterState& state, policies::cluster::EngineRows& rows,
                                        int size) {
  std::map<JobId, double> all;
  rows.follow_nodes(state);
  const int room = static_cast<int>(state.nodes.begin()->second.owners.size());
  for (const auto& [id, job] : state.jobs) {
    all[id] = rows.row({state, state.now}, *job, {.room = room}).speed->goodput({.nodes = 1, .size = size});
  }
  return all;
}

}  // namespace tidepool::test
