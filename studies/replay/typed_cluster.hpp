// A cluster of several kinds of node, as `--cluster` names it: "8x1:v100@2.48,16x1:p100@1.46,24x1:k80@0.45", where what
// follows the @ is the price of a slot for an hour and may be left out. The fastest type comes
// first, as its writer sees to: policies that know no speeds may rely on the order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "sim/cluster_model.hpp"

namespace tidepool::sim {

struct TypedCluster {
  struct Part {
    ClusterShape shape;
    std::string type;           // empty = the text names none, which only a single part may do
    double price_per_hour = 0;  // of one slot; 0 = not given
  };
  std::vector<Part> parts;  // at least one; type names differ

  [[nodiscard]] int slots() const;
  [[nodiscard]] std::vector<policies::cluster::SlotType> types() const;
  // Nodes numbered from 1, part by part.
  [[nodiscard]] std::vector<policies::cluster::NodeRow> nodes() const;
  // What the scoreboard divides by: as many slots, on nodes like those of the first part.
  [[nodiscard]] ClusterShape whole() const;
};

[[nodiscard]] Result<TypedCluster> parse_typed_cluster(std::string_view text);

}  // namespace tidepool::sim
