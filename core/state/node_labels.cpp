#include "core/state/node_labels.hpp"

#include <algorithm>

namespace tidepool::core {

bool is_implied_label(const std::string& key) {
  return key == kNodeLabel || key == kSlotTypeLabel;
}

const std::string* label_of(const Node& node, const std::string& key) {
  if (key == kNodeLabel) return &node.name;
  if (key == kSlotTypeLabel) return &node.slot_type;
  if (const auto set = node.labels_set.find(key); set != node.labels_set.end()) {
    return set->second ? &*set->second : nullptr;
  }
  const auto given = node.labels_given.find(key);
  return given == node.labels_given.end() ? nullptr : &given->second;
}

Labels labels_of(const Node& node) {
  Labels labels = node.labels_given;
  for (const auto& [key, value] : node.labels_set) {
    if (value) {
      labels[key] = *value;
    } else {
      labels.erase(key);
    }
  }
  return labels;
}

bool matches(const Node& node, const Selector& selector) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& asked) {
    const std::string* label = label_of(node, asked.first);
    return label != nullptr && std::find(asked.second.begin(), asked.second.end(), *label) != asked.second.end();
  });
}

std::string text_of(const Selector& selector) {
  std::string text;
  for (const auto& [key, values] : selector) {
    text += (text.empty() ? "" : " and ") + key + "=";
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
    }
  }
  return text;
}

}  // namespace tidepool::core
