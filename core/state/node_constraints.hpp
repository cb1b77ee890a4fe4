// Which nodes a job's workers may be on: one table, with a row for each requirement that a job file can have for a
// single node (requirements for several nodes together are in place/gang_rules.hpp). All code that places workers,
// makes room for them or counts slots for a job calls may_run_on(); the validator names the row that a plan breaks.
//
// Rule: a constraint applies when a worker is placed. A running worker stays where it is, whatever happens to its node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

struct NodeConstraint {
  const char* law;                        // the law that a plan breaks if it places a worker in spite of the constraint
  bool (*is_asked)(const JobSpec& spec);  // if not, any node meets it
  bool (*is_met)(const JobSpec& spec, const Node& node);
  std::string (*told)(const Node& node);  // the property of the node that the constraint checks
};
[[nodiscard]] std::span<const NodeConstraint> node_constraints();

// The first constraint that the node does not meet; null: the job's workers may be there.
[[nodiscard]] const NodeConstraint* broken_constraint(const JobSpec& spec, const Node& node);
[[nodiscard]] bool may_run_on(const JobSpec& spec, const Node& node);
[[nodiscard]] inline bool may_run_on(const Job& job, const Node& node) {
  return may_run_on(job.spec, node);
}
// The job's workers are placed apart, strictly or as far as there is room.
[[nodiscard]] inline bool asks_to_spread(const JobSpec& spec) {
  const TopologyStrategy strategy = spec.placement.strategy;
  return strategy == TopologyStrategy::kSpread || strategy == TopologyStrategy::kStrictSpread;
}
// All of them must be in one domain.
[[nodiscard]] inline bool is_in_one_domain(const JobSpec& spec) {
  return spec.placement.strategy == TopologyStrategy::kStrictPack;
}
// Each must be in another domain.
[[nodiscard]] inline bool is_one_per_domain(const JobSpec& spec) {
  return spec.placement.strategy == TopologyStrategy::kStrictSpread;
}
// They are placed as its strategy requires, or the job waits.
[[nodiscard]] inline bool has_strict_topology(const JobSpec& spec) {
  return is_in_one_domain(spec) || is_one_per_domain(spec);
}
// Slots of this type suit a job that requests one of these types; empty = any type suits.
[[nodiscard]] bool takes_slot_type(const std::vector<std::string>& asked, std::string_view type);
// The job has a requirement for the nodes of its workers together (place/gang_rules.hpp).
[[nodiscard]] inline bool has_gang_rule(const JobSpec& spec) {
  return spec.placement.exclusive || spec.elastic.group > 1 || has_strict_topology(spec);
}
// The job requests particular nodes, for any reason, or nodes that match each other.
[[nodiscard]] bool is_choosy(const JobSpec& spec);

// Bytes that each slot of a worker must provide, so that the worker has the memory that its job requests; 0: any will
// do.
[[nodiscard]] std::int64_t memory_asked_per_slot(const JobSpec& spec);

// Everything by which the rows above distinguish nodes, and how workers are placed on them: jobs with the same demand
// may be on the same nodes, and find room there for the same number of workers.
struct NodeDemand {
  std::vector<std::string> slot_types;
  PlacementSpec placement;
  std::int64_t memory_per_slot = 0;
  int group = 1;
  std::optional<Money> slot_price_max = {};

  auto operator<=>(const NodeDemand&) const = default;
};
[[nodiscard]] NodeDemand node_demand(const JobSpec& spec);

// A node as the pool creates it. The labels of a future node are unknown before it joins, and so is its memory if the
// pool does not state it: node_to_be() has neither.
[[nodiscard]] Node node_to_be(const PoolSpec& pool);

}  // namespace tidepool::core
