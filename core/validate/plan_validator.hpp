// Checks a plan of any policy against the state. A plan that passes can be applied; any other is dropped, and the error
// names the first invariant that it would break.
#pragma once

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

[[nodiscard]] Status validate_decision(const ClusterState& state, const Decision& decision);

}  // namespace tidepool::core
