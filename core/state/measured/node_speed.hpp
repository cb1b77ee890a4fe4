// Whether a node is slow by its own probe: compared with its earlier probes, and with other nodes of its kind. Safe
// rule: a figure is compared only with figures of the same slot type, and a figure that was never measured has no
// effect.
#pragma once

#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A node below this share of its expected speed is slow. Healthy GPUs of one type differ by a few per cent.
inline constexpr double kSlowNode = 0.8;

// The speed of its slowest device: a gang waits for that one.
[[nodiscard]] double slowest_gflops(const NodeHealth& health);
[[nodiscard]] double slowest_copy_gbps(const NodeHealth& health);

[[nodiscard]] bool same_devices(const NodeHealth& one, const NodeHealth& other);

// The node's speed as a share of its expected speed: the smaller of the two shares for computing and for copying, each
// compared with the node's own best figure and with the median of the other nodes of its slot type that are up. Nothing
// if it was never probed; 1 if there is nothing to compare with.
[[nodiscard]] std::optional<double> speed_of(const ClusterState& state, const Node& node);

}  // namespace tidepool::core
