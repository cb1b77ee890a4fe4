// Dropping root permanently: the process gets the user and the only group of a job, no capability, no way to gain one,
// and no group of the agent. Each step is checked, and all are verified again at the end.
#pragma once

#include <sys/types.h>

#include "base/result.hpp"
#include "workers/agent/isolation/confine_plan.hpp"

namespace tidepool::agent {

// Called in the program's process, before it executes the program.
[[nodiscard]] Status become_user(uid_t uid);

// Sets the rlimits of the plan and disables core files.
[[nodiscard]] Status set_limits(const ConfinePlan& plan);

// For the process that stays next to the program: root by number, so that no job can read anything of it, but without
// capabilities.
[[nodiscard]] Status drop_capabilities();

}  // namespace tidepool::agent
