// Which device of a node is worth a look: slower than its neighbours, or than it was itself. Pure: figures in,
// sentences out. The scheduler is not told; a worker that is slow there is compared with these by a person or a policy.
#pragma once

#include <string>
#include <vector>

#include "workers/agent/health/figures.hpp"

namespace tidepool::agent {

// A figure below this share of what it is compared with is told. Figures of healthy GPUs of one type differ by a few
// per cent; the CPUs of a busy machine by far more, which is why they are compared only with the same share.
inline constexpr double kSuspiciousShare = 0.8;

// `now` of all devices of the node; `before` from an earlier probe, in any order, possibly of other devices. Neighbours
// are compared by their median, so it takes three of them to name one.
[[nodiscard]] std::vector<std::string> judge(const std::vector<DeviceFigures>& now,
                                             const std::vector<DeviceFigures>& before);

}  // namespace tidepool::agent
