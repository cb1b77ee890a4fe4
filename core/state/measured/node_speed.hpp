// Whether a node is slow by its own probe: beside what it has shown before, and beside other nodes of its kind.
// Safe rule: a figure is compared only with figures of the same kind of slot, and one that was never taken says
// nothing.
#pragma once

#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A node below this share of what may be expected is slow. Healthy GPUs of one type differ by a few per cent.
inline constexpr double kSlowNode = 0.8;

// Of its slowest device: a gang waits for that one.
[[nodiscard]] double slowest_gflops(const NodeHealth& health);
[[nodiscard]] double slowest_copy_gbps(const NodeHealth& health);

[[nodiscard]] bool same_devices(const NodeHealth& one, const NodeHealth& other);

// The node's speed as a share of what may be expected: the smaller one of computing and copying, each beside the best
// that it has shown itself and the median of the other nodes of its slot type that are up. Nothing if it was never
// probed; 1 if there is nothing to compare with.
[[nodiscard]] std::optional<double> speed_of(const ClusterState& state, const Node& node);

}  // namespace tidepool::core
