#include "core/decide/engine_parts.hpp"

namespace tidepool::core {

bool EngineParts::file_decides(const ClusterState& state) const {
  return state.deployment.active && file_policy != nullptr;
}

bool EngineParts::tenants_share(const ClusterState& state) const {
  if (state.tenants->empty() || active_policy(state).rule() != nullptr) return false;
  return !file_decides(state) || state.deployment.active->shares;
}

std::optional<Instant> EngineParts::next_pools_question(const ClusterState& state) const {
  const PolicyDeployment& deployment = state.deployment;
  if (!file_decides(state) || !deployment.active->provisions || state.pools.pools.empty()) return std::nullopt;
  return deployment.told_at ? *deployment.told_at + config.plan_every : deployment.since;
}

const Policy& EngineParts::active_policy(const ClusterState& state) const {
  return file_decides(state) ? *file_policy : *policies.at("default");
}

std::string EngineParts::active_policy_name(const ClusterState& state) const {
  return file_decides(state) ? short_name(*state.deployment.active) : std::string(active_policy(state).name());
}

}  // namespace tidepool::core
