// Rules on the nodes of a job's workers together, such as all of them in one domain; what a job asks of each node alone
// is in state/node_constraints.hpp. One table, a row for each rule. The validator names the row that a plan breaks; all
// code that counts room for a job asks workers_by_rules(), and all code that places it goes by arrange()
// (arrangement.hpp).
//
// Rule: like a constraint, a rule is checked when workers are placed: for those that join, together with those that
// stay. Workers that run stay where they are when labels change.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A change of a job's workers, as their nodes: one entry for each worker.
struct GangChange {
  const Job& job;
  std::vector<NodeId> join;
  std::vector<NodeId> stay = {};
};
using JobsOnNodes = std::map<NodeId, IdSet<JobId>>;

struct GangRule {
  const char* law;
  // What is wrong with the change, beside jobs that the same plan has placed; nothing: the rule is kept.
  std::optional<std::string> (*broken)(const ClusterState& state, const GangChange& change, const JobsOnNodes& placed);
};
[[nodiscard]] std::span<const GangRule> gang_rules();

// So many more workers of a job find room on the node.
struct RoomOnNode {
  NodeId node;
  int workers = 0;
  bool is_last = false;  // used only where nothing else has room
};

// How many workers the job's rules let it have in these rooms, beside its workers on `stay`.
[[nodiscard]] int workers_by_rules(const ClusterState& state, const JobSpec& spec, const std::vector<RoomOnNode>& rooms,
                                   const std::vector<NodeId>& stay = {});

}  // namespace tidepool::core
