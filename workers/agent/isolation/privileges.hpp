// Giving up root for good: the user and the only group of a job, no capability, none to be gained, and no group of the
// agent's. Each step is checked, and looked at again at the end.
#pragma once

#include <sys/types.h>

#include "base/result.hpp"
#include "workers/agent/isolation/confine_plan.hpp"

namespace tidepool::agent {

// The program's process, before it becomes the program.
[[nodiscard]] Status become_user(uid_t uid);

// rlimits of the plan, and no core files.
[[nodiscard]] Status set_limits(const ConfinePlan& plan);

// The process that stays beside the program: root by number, of which no job can read anything, and without
// capabilities.
[[nodiscard]] Status drop_capabilities();

}  // namespace tidepool::agent
