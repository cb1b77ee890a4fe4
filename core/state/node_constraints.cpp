#include "core/state/node_constraints.hpp"

#include <algorithm>
#include <array>

#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

bool has_type_asked(const JobSpec& spec, const Node& node) {
  const auto& types = spec.slot_types;
  return types.empty() || std::find(types.begin(), types.end(), node.slot_type) != types.end();
}

std::string labels_told(const Node& node) {
  std::string text;
  for (const auto& [key, value] : labels_of(node)) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text.empty() ? "no labels" : text;
}

const std::array kConstraints{
    NodeConstraint{.law = "SlotsAreOfTheTypeAskedFor",
                   .is_asked = [](const JobSpec& spec) { return !spec.slot_types.empty(); },
                   .is_met = has_type_asked,
                   .told = [](const Node& node) { return node.slot_type; }},
    NodeConstraint{
        .law = "NodesMatchTheSelector",
        .is_asked = [](const JobSpec& spec) { return !spec.placement.selector.empty(); },
        .is_met = [](const JobSpec& spec, const Node& node) { return matches(node, spec.placement.selector); },
        .told = labels_told},
};

}  // namespace

std::span<const NodeConstraint> node_constraints() {
  return kConstraints;
}

const NodeConstraint* broken_constraint(const JobSpec& spec, const Node& node) {
  for (const NodeConstraint& each : kConstraints) {
    if (!each.is_met(spec, node)) return &each;
  }
  return nullptr;
}

bool may_run_on(const JobSpec& spec, const Node& node) {
  return broken_constraint(spec, node) == nullptr;
}

bool is_choosy(const JobSpec& spec) {
  if (has_gang_rule(spec)) return true;
  return std::any_of(kConstraints.begin(), kConstraints.end(),
                     [&](const NodeConstraint& each) { return each.is_asked(spec); });
}

Node node_to_be(const PoolSpec& pool) {
  Node node;
  node.slot_type = pool.slot_type;
  node.price_per_slot_hour = pool.price_per_slot_hour;
  return node;
}

}  // namespace tidepool::core
