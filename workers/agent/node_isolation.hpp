// What this node keeps of its jobs, by the agent's options and by what the host gives; told in the log.
#pragma once

#include "base/result.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/node_slots.hpp"

namespace tidepool::agent {

[[nodiscard]] Result<Confinement> isolate(const AgentOptions& options, const NodeSlots& slots);

}  // namespace tidepool::agent
