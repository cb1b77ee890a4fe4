// Labels of nodes: what operators call them by, and what jobs ask for. A node has those of the node token with which
// it joined, and over them those that an operator has set since, which stay when it joins again.
//
// Rule: its name and its type of slots are labels, too (kNodeLabel, kSlotTypeLabel), which cannot be set.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

inline constexpr const char* kNodeLabel = "node";
inline constexpr const char* kSlotTypeLabel = "slot_type";
inline constexpr std::size_t kNodeLabelsMax = 32;  // that operators set on one node

[[nodiscard]] bool is_implied_label(const std::string& key);

// Null: it has none. Valid while the node is as it is.
[[nodiscard]] const std::string* label_of(const Node& node, const std::string& key);
// Without those that every node has.
[[nodiscard]] Labels labels_of(const Node& node);

// Every key has one of the values that are asked for.
[[nodiscard]] bool matches(const Node& node, const Selector& selector);

// The domain that the node is in, of those by this label: its value. A node without the label is one of its own, which
// no value is called like.
[[nodiscard]] std::string domain_of(const Node& node, const std::string& key);
// "rack r1", or "node gpu-3" of a node without the label, too.
[[nodiscard]] std::string domain_text(const std::string& domain, const std::string& key);

// "disk=ssd and rack=r1 or r2"
[[nodiscard]] std::string text_of(const Selector& selector);

}  // namespace tidepool::core
