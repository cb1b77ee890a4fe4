// placement: and topology: of a job file: on which nodes its workers may be, and how they lie among them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace tidepool::api::v1 {

struct PlacementFields {
  // selector: labels of nodes, each with the values of which a node must have one; empty = any node.
  std::map<std::string, std::vector<std::string>> selector;
  bool exclusive = false;  // no node of its workers has workers of other jobs
};
struct TopologyFields {
  bool pack_node = false;         // pack: node
  std::string strategy = "pack";  // spread, strict_pack, strict_spread
  std::string key = "node";       // a label of nodes: those with the same value are a domain
};

[[nodiscard]] PlacementFields read_placement(const nlohmann::json& value, std::vector<FieldError>& errors);
[[nodiscard]] TopologyFields read_topology(const nlohmann::json& value, std::vector<FieldError>& errors);
// The job's document with its `placement`; as it is where none is asked for, so that other files are to the letter what
// they were before there was one.
[[nodiscard]] nlohmann::json with_placement(const PlacementFields& placement, nlohmann::json document);
// `topology`, likewise: strategy and key are told where one of them is asked for.
[[nodiscard]] nlohmann::json topology_document(const TopologyFields& topology);

}  // namespace tidepool::api::v1
