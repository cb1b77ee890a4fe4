#include "sim/cluster_model.hpp"

#include <optional>

#include "base/number_text.hpp"

namespace tidepool::sim {
namespace {

std::optional<int> bounded(std::string_view text, int most) {
  const auto value = parse_number<int>(text);
  return value && *value >= 1 && *value <= most ? value : std::nullopt;
}

}  // namespace

Result<ClusterShape> parse_cluster(std::string_view text) {
  const auto cross = text.find('x');
  if (cross != std::string_view::npos) {
    const auto nodes = bounded(text.substr(0, cross), 100'000);
    const auto slots = bounded(text.substr(cross + 1), 1'024);
    if (nodes && slots) return ClusterShape{.nodes = *nodes, .slots_per_node = *slots};
  }
  if (text.find(':') != std::string_view::npos) {
    return invalid_argument(
        "\"" + std::string(text) +
        "\": under these rules all slots are alike and have no type; write NODESxSLOTS, such as 16x4");
  }
  return invalid_argument("\"" + std::string(text) +
                          "\" is no cluster; write NODESxSLOTS, such as 16x4 for sixteen nodes of four slots "
                          "(at most 100000x1024)");
}

}  // namespace tidepool::sim
