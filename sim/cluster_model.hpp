// The shape of a simulated cluster: nodes of one kind, each with the same number of slots.
#pragma once

#include <string>
#include <string_view>

#include "base/money.hpp"
#include "base/result.hpp"

namespace tidepool::sim {

struct ClusterShape {
  int nodes = 1;           // 1 .. 100,000
  int slots_per_node = 1;  // 1 .. 1,024
  std::string slot_type = "gpu";
  Money price_per_slot_hour = Money::micros(1'000'000);

  [[nodiscard]] int slots() const { return nodes * slots_per_node; }
  [[nodiscard]] std::string text() const { return std::to_string(nodes) + "x" + std::to_string(slots_per_node); }
};

// One node of a cluster whose nodes differ.
struct NodeKind {
  int slots = 1;
  std::string slot_type = "gpu";
  double speed = 1;  // of computing, relative to the slots of the jobs' true curves
};

// "16x4": sixteen nodes of four slots.
[[nodiscard]] Result<ClusterShape> parse_cluster(std::string_view text);

}  // namespace tidepool::sim
