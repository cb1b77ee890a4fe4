// placement: of a job file: on which nodes its workers may be.
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
};

[[nodiscard]] PlacementFields read_placement(const nlohmann::json& value, std::vector<FieldError>& errors);
// The job's document with its `placement`; as it is where none is asked for, so that other files are to the letter what
// they were before there was one.
[[nodiscard]] nlohmann::json with_placement(const PlacementFields& placement, nlohmann::json document);

}  // namespace tidepool::api::v1
