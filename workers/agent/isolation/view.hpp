// What a confined program sees of the machine: its own /proc, /tmp, /dev and memory files, its own part of the agent's
// folders at fixed places, a name for its user, and nothing in the place of what is hidden. Called by the first process
// of a pid namespace, as root, before the program's user is taken.
#pragma once

#include "base/result.hpp"
#include "workers/agent/isolation/confine_plan.hpp"

namespace tidepool::agent {

// Takes a mount and an ipc namespace of its own and makes the view in it. The error says what could not be done.
[[nodiscard]] Status make_view(const ConfinePlan& plan);

}  // namespace tidepool::agent
