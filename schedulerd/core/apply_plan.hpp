// accept(): what each intent changes in the books once the decision is journaled. One function per
// intent; the plan has passed the validator, so nothing can be refused here.
#pragma once

#include "schedulerd/core/plan.hpp"
#include "schedulerd/core/state_change.hpp"

namespace tidepool::core {

void apply_decision(StateChange& change, const Decision& decision);

}  // namespace tidepool::core
