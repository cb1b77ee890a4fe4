#include "api/v1/placement_fields.hpp"

#include <algorithm>
#include <utility>

#include "api/node_label.hpp"
#include "api/v1/word_field.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

const std::vector<std::string> kStrategies = {"pack", "spread", "strict_pack", "strict_spread"};
const std::vector<std::string> kPacking = {"none", "node"};
constexpr std::size_t kKeysMax = 16;
constexpr std::size_t kValuesMax = 64;

// The name of a node and its type of slots may be any text that a node can have.
bool may_be_value(const std::string& key, const json& value) {
  if (!value.is_string()) return false;
  const std::string text = value.get<std::string>();
  const bool is_implied = key == "node" || key == "slot_type";
  return is_implied ? !text.empty() && text.size() <= kLabelBytesMax : is_label_value(text);
}

// One value, or a list of them.
std::vector<std::string> read_values(ObjectReader& in, const std::string& key) {
  const json& asked = in.raw(key);
  const json list = asked.is_array() ? asked : json::array({asked});
  if (!is_label_key(key)) {
    in.fail(key, "Invalid", std::string("is no label: its name must be ") + kLabelRule);
  } else if (list.empty() || list.size() > kValuesMax) {
    in.fail(key, "OutOfRange", "must be a value or a list of 1 to 64, such as r1 or [r1, r2]");
  } else if (!std::all_of(list.begin(), list.end(), [&](const json& each) { return may_be_value(key, each); })) {
    in.fail(key, "Invalid",
            std::string("has a value that no node can have: values are texts of ") + kLabelRule + "; quote numbers");
  } else {
    return list.get<std::vector<std::string>>();
  }
  return {};
}

}  // namespace

PlacementFields read_placement(const json& value, Errors& errors) {
  PlacementFields placement;
  ObjectReader in(value, "/placement", errors);
  const json selector = in.raw("selector");
  placement.exclusive = in.boolean("exclusive", false);
  in.finish();
  ObjectReader labels(selector, "/placement/selector", errors);
  if (!selector.is_object()) return placement;
  if (selector.size() > kKeysMax) in.fail("selector", "OutOfRange", "must have at most 16 labels");
  for (const auto& [key, asked] : selector.items()) {
    auto values = read_values(labels, key);
    if (!values.empty()) placement.selector[key] = std::move(values);
  }
  return placement;
}

json with_placement(const PlacementFields& placement, json document) {
  if (!placement.selector.empty()) document["placement"]["selector"] = placement.selector;
  if (placement.exclusive) document["placement"]["exclusive"] = true;
  return document;
}

TopologyFields read_topology(const json& value, Errors& errors) {
  TopologyFields topology;
  ObjectReader in(value, "/topology", errors);
  topology.strategy = one_of(in, "strategy", kStrategies, topology.strategy);
  topology.key = in.text("key", topology.key);
  if (!is_label_key(topology.key)) {
    in.fail("key", "Invalid", std::string("is no label: it must be node, rack or another of ") + kLabelRule);
  }
  topology.pack_node = one_of(in, "pack", kPacking, "none") == "node";
  if (topology.pack_node && topology.strategy != "pack" && topology.strategy != "strict_pack") {
    in.fail("pack", "Invalid",
            "brings workers together, which strategy " + topology.strategy + " keeps apart; remove it");
  }
  in.finish();
  return topology;
}

json topology_document(const TopologyFields& topology) {
  json document = {{"pack", topology.pack_node ? "node" : "none"}};
  if (topology.strategy == TopologyFields{}.strategy && topology.key == TopologyFields{}.key) return document;
  document["strategy"] = topology.strategy;
  document["key"] = topology.key;
  return document;
}

}  // namespace tidepool::api::v1
