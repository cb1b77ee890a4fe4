#include "policies/registry.hpp"

#include <utility>

#include "base/word_list.hpp"
#include "policies/cluster/whole_cluster_policy.hpp"
#include "policies/composed_policy.hpp"
#include "policies/tidal/tide_planner.hpp"

namespace tidepool::policies {
namespace {

using Policies = std::map<std::string, std::shared_ptr<const core::Policy>>;

void add(Policies& policies, std::span<const cluster::AllocationPreset> presets) {
  for (const cluster::AllocationPreset& preset : presets) {
    if (!cluster::runs_live(preset)) continue;
    const std::string name(preset.name);
    policies[name] = std::make_shared<const cluster::WholeClusterPolicy>(name, preset.policy());
  }
}

Policies all_policies(std::span<const cluster::AllocationPreset> more) {
  Policies policies;
  add(policies, more);
  add(policies, kClusterPresets);
  policies["tidal"] = std::make_shared<const tidal::LiveTidal>();  // its market lives between decisions
  for (const Preset& preset : kPresets) {
    const std::string name(preset.name);
    policies[name] = std::make_shared<const ComposedPolicy>(ComposedPolicy::Stages{
        .name = name, .order = preset.order(), .size = preset.size(), .strict_order = preset.strict_order});
  }
  return policies;
}

}  // namespace

std::vector<KnownPolicy> known_policies() {
  std::map<std::string, KnownPolicy> known;
  const auto add = [&](const auto& preset, const char* scope) {
    const std::string name(preset.name);
    known[name] = {name, std::string(preset.summary), std::string(preset.source), scope};
  };
  for (const cluster::AllocationPreset& preset : kClusterPresets) add(preset, "cluster");
  for (const Preset& preset : kPresets) add(preset, "job");
  std::vector<KnownPolicy> sorted;
  sorted.reserve(known.size());
  for (auto& [name, policy] : known) sorted.push_back(std::move(policy));
  return sorted;
}

Result<Policies> make_policies(std::string_view default_name, std::span<const cluster::AllocationPreset> more) {
  Policies policies = all_policies(more);
  const auto chosen = policies.find(std::string(default_name));
  if (chosen == policies.end()) {
    return not_found("there is no policy \"" + std::string(default_name) + "\"; choose one of " +
                     word_list(policies, &Policies::value_type::first));
  }
  policies["default"] = chosen->second;
  return policies;
}

}  // namespace tidepool::policies
