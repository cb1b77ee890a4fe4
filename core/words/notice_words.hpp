// The answer of a worker that was asked to leave, and its deadline.
#pragma once

#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// "w-3 is saving; it has until 14:02:10 UTC". Requires: it has a notice.
[[nodiscard]] std::string answer_text(const ClusterState& state, const Worker& worker);
// "14:02:10 UTC"
[[nodiscard]] std::string clock_text(const ClusterState& state, Instant at);

}  // namespace tidepool::core
