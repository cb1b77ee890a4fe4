// Rules on the nodes of all workers of a job together, such as a common domain; constraints on single nodes are in
// state/node_constraints.hpp. One table, one row per rule. The validator names the row that a plan breaks; all code
// that counts room for a job uses workers_by_rules(), and all code that places it uses arrange() (arrangement.hpp).
//
// Rule: like a constraint, a rule is checked when workers are placed: for those that join, together with those that
// stay. Running workers stay where they are when labels change.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A change of a job's workers, given by their nodes: one entry per worker.
struct GangChange {
  const Job& job;
  std::vector<NodeId> join;
  std::vector<NodeId> stay = {};
};
using JobsOnNodes = std::map<NodeId, IdSet<JobId>>;

struct GangRule {
  const char* law;
  // The violation, given jobs that the same plan has placed; none: the rule is kept.
  std::optional<std::string> (*broken)(const ClusterState& state, const GangChange& change, const JobsOnNodes& placed);
};
[[nodiscard]] std::span<const GangRule> gang_rules();

// The number of additional workers of a job that fit on the node.
struct RoomOnNode {
  NodeId node;
  int workers = 0;
  bool is_last = false;  // used only if nothing else has room
};

// How many workers the job's rules allow in these rooms, in addition to its workers on `stay`.
[[nodiscard]] int workers_by_rules(const ClusterState& state, const JobSpec& spec, const std::vector<RoomOnNode>& rooms,
                                   const std::vector<NodeId>& stay = {});

}  // namespace tidepool::core
