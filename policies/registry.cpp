#include "policies/registry.hpp"

#include <utility>

#include "base/word_list.hpp"
#include "policies/engine/whole_cluster_policy.hpp"

namespace tidepool::policies {
namespace {

using Policies = std::map<std::string, std::shared_ptr<const core::Policy>>;

void add(Policies& policies, std::span<const cluster::AllocationPreset> presets) {
  for (const cluster::AllocationPreset& preset : presets) {
    if (!cluster::runs_live(preset)) continue;
    const std::string name(preset.name);
    if (preset.in_engine != nullptr) {
      policies[name] = preset.in_engine(name);
    } else {
      policies[name] = std::make_shared<const cluster::WholeClusterPolicy>(name, preset.policy());
    }
  }
}

}  // namespace

std::vector<KnownPolicy> known_policies() {
  Policies policies;
  add(policies, kPolicies);
  std::vector<KnownPolicy> known;
  for (const cluster::AllocationPreset& preset : kPolicies) {
    const std::string name(preset.name);
    const bool by_job = policies.at(name)->rule() != nullptr;
    known.push_back({name, std::string(preset.summary), std::string(preset.source), by_job ? "job" : "cluster"});
  }
  return known;
}

Result<Policies> make_policies(std::string_view default_name, std::span<const cluster::AllocationPreset> more) {
  Policies policies;
  add(policies, more);
  add(policies, kPolicies);
  const auto chosen = policies.find(std::string(default_name));
  if (chosen == policies.end()) {
    return not_found("there is no policy \"" + std::string(default_name) + "\"; choose one of " +
                     word_list(policies, &Policies::value_type::first));
  }
  policies["default"] = chosen->second;
  return policies;
}

}  // namespace tidepool::policies
