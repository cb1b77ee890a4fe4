#include "schedulerd/sim/replay/typed_cluster.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::sim {

int TypedCluster::slots() const {
  int sum = 0;
  for (const Part& part : parts) sum += part.shape.slots();
  return sum;
}

std::vector<policies::cluster::NodeRow> TypedCluster::nodes() const {
  std::vector<policies::cluster::NodeRow> rows;
  for (std::size_t type = 0; type < parts.size(); ++type) {
    for (int node = 0; node < parts[type].shape.nodes; ++node) {
      rows.push_back(
          {.id = NodeId(rows.size() + 1), .slots = parts[type].shape.slots_per_node, .type = static_cast<int>(type)});
    }
  }
  return rows;
}

ClusterShape TypedCluster::whole() const {
  if (parts.size() == 1) return parts.front().shape;
  return {.nodes = slots(), .slots_per_node = 1};
}

Result<TypedCluster> parse_typed_cluster(std::string_view text) {
  TypedCluster cluster;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const std::size_t colon = word.find(':');
    const auto shape = parse_cluster(word.substr(0, colon));
    if (!shape) return shape.error();
    const std::string type(colon == std::string_view::npos ? "" : word.substr(colon + 1));
    const auto same = [&](const TypedCluster::Part& part) { return part.type == type; };
    if (std::any_of(cluster.parts.begin(), cluster.parts.end(), same)) {
      return invalid_argument("\"" + std::string(text) + "\": two parts have the same slot type; write each type once");
    }
    cluster.parts.push_back({.shape = *shape, .type = type});
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const auto nameless = [](const TypedCluster::Part& part) { return part.type.empty(); };
  if (cluster.parts.size() > 1 && std::any_of(cluster.parts.begin(), cluster.parts.end(), nameless)) {
    return invalid_argument("\"" + std::string(text) + "\": a cluster of several parts names the slot type of each, " +
                            "such as 8x1:v100,16x1:p100");
  }
  return cluster;
}

}  // namespace tidepool::sim
