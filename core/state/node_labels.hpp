// Labels of nodes: operators set them, and jobs select nodes by them. A node has the labels of the node token with
// which it joined; labels set by an operator override them and stay when the node joins again.
//
// Rule: its name and its slot type are labels, too (kNodeLabel, kSlotTypeLabel), which cannot be set.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

inline constexpr const char* kNodeLabel = "node";
inline constexpr const char* kSlotTypeLabel = "slot_type";
inline constexpr std::size_t kNodeLabelsMax = 32;  // that operators set on one node

[[nodiscard]] bool is_implied_label(const std::string& key);

// Null: the node has no such label. Valid while the node does not change.
[[nodiscard]] const std::string* label_of(const Node& node, const std::string& key);
// Without the labels that every node has.
[[nodiscard]] Labels labels_of(const Node& node);

// Every key has one of the requested values.
[[nodiscard]] bool matches(const Node& node, const Selector& selector);

// The node's domain by this label: the label's value. A node without the label is a domain of its own, with a name that
// no value can have.
[[nodiscard]] std::string domain_of(const Node& node, const std::string& key);
// "rack r1", or "node gpu-3" for a node without the label.
[[nodiscard]] std::string domain_text(const std::string& domain, const std::string& key);

// "disk=ssd and rack=r1 or r2"
[[nodiscard]] std::string text_of(const Selector& selector);

}  // namespace tidepool::core
