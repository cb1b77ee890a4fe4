// accept(): applies each intent to the state once the decision is journaled. One function per intent; the plan has
// passed the validator, so nothing is refused here.
#pragma once

#include <cstdint>

#include "core/facts/state_change.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// `nodes`: the digest of the nodes that a plan may use (plan_inputs.hpp), which the engine keeps.
void apply_decision(StateChange& change, const Decision& decision, std::uint64_t nodes);

}  // namespace tidepool::core
