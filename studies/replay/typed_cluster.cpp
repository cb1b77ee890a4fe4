#include "studies/replay/typed_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/number_text.hpp"

namespace tidepool::sim {

int TypedCluster::slots() const {
  int sum = 0;
  for (const Part& part : parts) sum += part.shape.slots();
  return sum;
}

std::vector<policies::cluster::SlotType> TypedCluster::types() const {
  std::vector<policies::cluster::SlotType> types;
  for (const Part& part : parts) types.push_back({.name = part.type, .price_per_hour = part.price_per_hour});
  return types;
}

std::vector<policies::cluster::NodeRow> TypedCluster::nodes() const {
  std::vector<policies::cluster::NodeRow> rows;
  for (std::size_t type = 0; type < parts.size(); ++type) {
    for (int node = 0; node < parts[type].shape.nodes; ++node) {
      rows.push_back({.id = NodeId(rows.size() + 1),
                      .slots = parts[type].shape.slots_per_node,
                      .type = static_cast<int>(type),
                      .slot_type = parts[type].type,
                      .price_per_hour = parts[type].price_per_hour});
    }
  }
  return rows;
}

ClusterShape TypedCluster::whole() const {
  if (parts.size() == 1) return parts.front().shape;
  return {.nodes = slots(), .slots_per_node = 1};
}

namespace {

constexpr std::int64_t kSlotsMost = 102'400'000;  // as many as the largest part may have

// "16x1:p100@1.46"
Result<TypedCluster::Part> parse_part(std::string_view word) {
  const std::size_t colon = word.find(':');
  const auto shape = parse_cluster(word.substr(0, colon));
  if (!shape) return shape.error();
  TypedCluster::Part part{.shape = *shape, .type = {}};
  if (colon == std::string_view::npos) return part;
  const std::string_view type = word.substr(colon + 1);
  const std::size_t at = type.find('@');
  part.type = type.substr(0, at);
  if (at == std::string_view::npos) return part;
  part.price_per_hour = parse_number<double>(type.substr(at + 1)).value_or(0);
  if (std::isfinite(part.price_per_hour) && part.price_per_hour > 0) return part;
  return invalid_argument("\"" + std::string(word) +
                          "\": the price of a slot for an hour, a number above 0, follows the @, such as @1.46");
}

}  // namespace

Result<TypedCluster> parse_typed_cluster(std::string_view text) {
  TypedCluster cluster;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    auto part = parse_part(rest.substr(0, comma));
    if (!part) return part.error();
    const auto same = [&](const TypedCluster::Part& other) { return other.type == part->type; };
    if (std::any_of(cluster.parts.begin(), cluster.parts.end(), same)) {
      return invalid_argument("\"" + std::string(text) + "\": two parts have the same slot type; write each type once");
    }
    // So that the sum of all slots is an int.
    const std::int64_t all = std::int64_t{cluster.slots()} + part->shape.slots();
    if (all > kSlotsMost) {
      return invalid_argument("\"" + std::string(text) + "\": a cluster has at most " + std::to_string(kSlotsMost) +
                              " slots; this one has more");
    }
    cluster.parts.push_back(*std::move(part));
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
