// Finds the devices of a node that are slower than the node's other devices, or slower than before. Pure: figures in,
// sentences out. The scheduler does not receive the findings; if a worker is slow there, a person or a policy compares.
#pragma once

#include <string>
#include <vector>

#include "workers/agent/health/figures.hpp"

namespace tidepool::agent {

// A figure below this share of its reference is reported. Figures of healthy GPUs of one type differ by a few per cent;
// those of a busy machine's CPUs differ far more, so CPUs are compared only with the same share.
inline constexpr double kSuspiciousShare = 0.8;

// `now` has all devices of the node; `before` is from an earlier probe, in any order, possibly of other devices.
// Devices are compared with the median of the node's devices, so at least three are needed to name one.
[[nodiscard]] std::vector<std::string> judge(const std::vector<DeviceFigures>& now,
                                             const std::vector<DeviceFigures>& before);

}  // namespace tidepool::agent
