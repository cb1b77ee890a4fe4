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
[[nodiscard]] nlohmann::json placement_document(const PlacementFields& placement);

}  // namespace tidepool::api::v1
