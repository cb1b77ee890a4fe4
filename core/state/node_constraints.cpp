#include "core/state/node_constraints.hpp"

#include <algorithm>
#include <array>

#include "base/byte_size.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

bool has_type_asked(const JobSpec& spec, const Node& node) {
  return takes_slot_type(spec.slot_types, node.slot_type);
}

// A node that reports no memory, or limits none, does not bound a worker.
bool has_memory_asked(const JobSpec& spec, const Node& node) {
  const std::int64_t share = node.memory_per_slot.value_or(0);
  return share == 0 || memory_asked_per_slot(spec) <= share;
}

bool is_cheap_enough(const JobSpec& spec, const Node& node) {
  return !spec.slot_price_max || node.price_per_slot_hour <= *spec.slot_price_max;
}

std::string labels_told(const Node& node) {
  std::string text;
  for (const auto& [key, value] : labels_of(node)) {
    text += text.empty() ? "" : ", ";
    text.append(key).append("=").append(value);
  }
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
    NodeConstraint{.law = "SlotsBringTheMemoryAskedFor",
                   .is_asked = [](const JobSpec& spec) { return spec.memory.has_value(); },
                   .is_met = has_memory_asked,
                   .told =
                       [](const Node& node) {
                         return rounded_byte_size(node.memory_per_slot.value_or(0)) + " of memory per slot";
                       }},
    NodeConstraint{.law = "SlotsAreWithinThePriceCap",
                   .is_asked = [](const JobSpec& spec) { return spec.slot_price_max.has_value(); },
                   .is_met = is_cheap_enough,
                   .told = [](const Node& node) { return to_text(node.price_per_slot_hour) + " per slot and hour"; }},
};

// Less than any job requests.
constexpr std::int64_t kNoMemory = 1;

}  // namespace

bool takes_slot_type(const std::vector<std::string>& asked, std::string_view type) {
  return asked.empty() || std::find(asked.begin(), asked.end(), type) != asked.end();
}

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

std::int64_t memory_asked_per_slot(const JobSpec& spec) {
  const std::int64_t slots = spec.gpus_per_worker;
  return spec.memory ? (*spec.memory + slots - 1) / slots : 0;
}

NodeDemand node_demand(const JobSpec& spec) {
  return {spec.slot_types, spec.placement, memory_asked_per_slot(spec), spec.elastic.group, spec.slot_price_max};
}

Node node_to_be(const PoolSpec& pool) {
  Node node;
  node.slot_type = pool.slot_type;
  node.price_per_slot_hour = pool.price_per_slot_hour;
  node.memory_per_slot = pool.memory_per_slot.value_or(kNoMemory);
  return node;
}

}  // namespace tidepool::core
