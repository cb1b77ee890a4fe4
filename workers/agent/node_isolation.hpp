// Sets up the isolation of this node's jobs from the agent's options and from what the host supports; logs the result.
#pragma once

#include "base/result.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/node_slots.hpp"

namespace tidepool::agent {

[[nodiscard]] Result<Confinement> isolate(const AgentOptions& options, const NodeSlots& slots);

}  // namespace tidepool::agent
