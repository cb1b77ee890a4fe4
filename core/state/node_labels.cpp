#include "core/state/node_labels.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

constexpr std::string_view kUnlabelled = "\n";  // in no label's value

}  // namespace

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

std::string domain_of(const Node& node, const std::string& key) {
  const std::string* value = label_of(node, key);
  return value != nullptr ? *value : std::string(kUnlabelled) + node.name;
}

std::string domain_text(const std::string& domain, const std::string& key) {
  const bool is_labelled = !domain.starts_with(kUnlabelled);
  return is_labelled ? key + " " + domain : "node " + domain.substr(kUnlabelled.size());
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
