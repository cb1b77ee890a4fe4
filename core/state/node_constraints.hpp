// Which nodes a job's workers may be on: one table, a row for each thing that a job file can ask of a node by itself
// (what it asks of them together is in place/gang_rules.hpp). All that places workers, makes room for them or counts
// slots for a job asks may_run_on(); the validator names the row that a plan breaks.
//
// Rule: a constraint holds when a worker is placed. One that runs stays where it is, whatever becomes of its node.
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
  const char* law;                        // that a plan breaks which places a worker in spite of it
  bool (*is_asked)(const JobSpec& spec);  // else any node does
  bool (*is_met)(const JobSpec& spec, const Node& node);
  std::string (*told)(const Node& node);  // what of the node it goes by
};
[[nodiscard]] std::span<const NodeConstraint> node_constraints();

// The first one that the node does not meet; null: the job's workers may be there.
[[nodiscard]] const NodeConstraint* broken_constraint(const JobSpec& spec, const Node& node);
[[nodiscard]] bool may_run_on(const JobSpec& spec, const Node& node);
[[nodiscard]] inline bool may_run_on(const Job& job, const Node& node) {
  return may_run_on(job.spec, node);
}
// Its workers lie apart, as far as there is room or strictly.
[[nodiscard]] inline bool asks_to_spread(const JobSpec& spec) {
  const TopologyStrategy strategy = spec.placement.strategy;
  return strategy == TopologyStrategy::kSpread || strategy == TopologyStrategy::kStrictSpread;
}
// All of them have to be in one domain.
[[nodiscard]] inline bool is_in_one_domain(const JobSpec& spec) {
  return spec.placement.strategy == TopologyStrategy::kStrictPack;
}
// Each has to be in another domain.
[[nodiscard]] inline bool is_one_per_domain(const JobSpec& spec) {
  return spec.placement.strategy == TopologyStrategy::kStrictSpread;
}
// They lie as its strategy says, or the job waits.
[[nodiscard]] inline bool has_strict_topology(const JobSpec& spec) {
  return is_in_one_domain(spec) || is_one_per_domain(spec);
}
// Slots of this type do for a job that asks for one of these; empty = any do.
[[nodiscard]] bool takes_slot_type(const std::vector<std::string>& asked, std::string_view type);
// It asks something of the nodes of its workers together (place/gang_rules.hpp).
[[nodiscard]] inline bool has_gang_rule(const JobSpec& spec) {
  return spec.placement.exclusive || spec.elastic.group > 1 || has_strict_topology(spec);
}
// It asks for particular nodes, whatever for, or for nodes that suit each other.
[[nodiscard]] bool is_choosy(const JobSpec& spec);

// Bytes that each slot of a worker has to bring, so that the worker has the memory that its job asks for; 0: any do.
[[nodiscard]] std::int64_t memory_asked_per_slot(const JobSpec& spec);

// All by which the rows above tell nodes apart, and how workers lie on them: jobs with the same one may be on the same
// nodes, and find room there for as many workers.
struct NodeDemand {
  std::vector<std::string> slot_types;
  PlacementSpec placement;
  std::int64_t memory_per_slot = 0;
  int group = 1;
  std::optional<Money> slot_price_max = {};

  auto operator<=>(const NodeDemand&) const = default;
};
[[nodiscard]] NodeDemand node_demand(const JobSpec& spec);

// A node such as the pool makes. What labels it will have is not known before it joins, nor its memory where the pool
// does not tell it: it has neither.
[[nodiscard]] Node node_to_be(const PoolSpec& pool);

}  // namespace tidepool::core
