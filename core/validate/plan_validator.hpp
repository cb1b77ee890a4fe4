// Checks a plan against the state, whatever policy made it. A plan that passes can be applied; one that
// does not is dropped, and the answer names the first invariant it would break.
#pragma once

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

[[nodiscard]] Status validate_decision(const ClusterState& state, const Decision& decision);

}  // namespace tidepool::core
