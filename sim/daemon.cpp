#include "sim/daemon.hpp"

namespace tidepool::sim {

std::shared_ptr<const core::Job> Daemon::job(JobId job) const {
  const auto found = state().jobs.find(job);
  return found == state().jobs.end() ? ended(job) : found->second;
}

std::string node_name(int node) {
  return "node-" + std::to_string(node + 1);
}

api::AgentWelcome welcome(NodeId node) {
  constexpr Duration kNoHeartbeat = Duration::seconds(10LL * 365 * 86'400);
  return {.node = node, .heartbeat_ms = kNoHeartbeat.count_ms(), .cluster = "simulated"};
}

}  // namespace tidepool::sim
