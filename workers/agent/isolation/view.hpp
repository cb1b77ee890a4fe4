// What a confined program sees of the machine: its own /proc, /tmp, /dev and memory files, its own part of the agent's
// folders at fixed paths, a name for its user, and nothing in place of hidden paths. The first process of a pid
// namespace calls this as root, before it switches to the program's user.
#pragma once

#include "base/result.hpp"
#include "workers/agent/isolation/confine_plan.hpp"

namespace tidepool::agent {

// Enters new mount and ipc namespaces and creates the view there. The error says which step failed.
[[nodiscard]] Status make_view(const ConfinePlan& plan);

}  // namespace tidepool::agent
