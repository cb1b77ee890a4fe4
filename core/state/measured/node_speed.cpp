#include "core/state/measured/node_speed.hpp"

#include <algorithm>
#include <vector>

namespace tidepool::core {
namespace {

// The expected speed of a node: its own best figure, or the median of the others if that is higher.
double expected(double own_best, std::vector<double> others) {
  if (others.empty()) return own_best;
  std::sort(others.begin(), others.end());
  return std::max(own_best, others[(others.size() - 1) / 2]);
}

}  // namespace

double slowest_gflops(const NodeHealth& health) {
  double slowest = health.devices.front().matmul_gflops;
  for (const DeviceSpeed& each : health.devices) slowest = std::min(slowest, each.matmul_gflops);
  return slowest;
}

double slowest_copy_gbps(const NodeHealth& health) {
  double slowest = health.devices.front().copy_gbps;
  for (const DeviceSpeed& each : health.devices) slowest = std::min(slowest, each.copy_gbps);
  return slowest;
}

bool same_devices(const NodeHealth& one, const NodeHealth& other) {
  return std::equal(one.devices.begin(), one.devices.end(), other.devices.begin(), other.devices.end(),
                    [](const DeviceSpeed& a, const DeviceSpeed& b) { return a.device == b.device; });
}

std::optional<double> speed_of(const ClusterState& state, const Node& node) {
  if (!node.health) return std::nullopt;
  std::vector<double> gflops;
  std::vector<double> copies;
  for (const auto& [id, other] : state.nodes) {
    const bool comparable = id != node.id && other.state == NodeState::kUp && other.slot_type == node.slot_type;
    if (!comparable || !other.health) continue;
    gflops.push_back(slowest_gflops(*other.health));
    copies.push_back(slowest_copy_gbps(*other.health));
  }
  const double computes = slowest_gflops(*node.health) / expected(node.health->best_gflops, std::move(gflops));
  const double copying = slowest_copy_gbps(*node.health) / expected(node.health->best_copy_gbps, std::move(copies));
  return std::min(computes, copying);
}

}  // namespace tidepool::core
