#include "policies/registry.hpp"

#include <utility>

#include "policies/composed_policy.hpp"

namespace tidepool::policies {

Result<std::map<std::string, std::shared_ptr<const core::Policy>>> make_policies(std::string_view default_name) {
  std::map<std::string, std::shared_ptr<const core::Policy>> policies;
  std::string known;
  for (const Preset& preset : kPresets) {
    const std::string name(preset.name);
    policies[name] = std::make_shared<const ComposedPolicy>(ComposedPolicy::Stages{
        .name = name, .order = preset.order(), .size = preset.size(), .strict_order = preset.strict_order});
    known += (known.empty() ? "" : ", ") + name;
  }
  const auto chosen = policies.find(std::string(default_name));
  if (chosen == policies.end()) {
    return not_found("there is no policy \"" + std::string(default_name) + "\"; choose one of " + known);
  }
  policies["default"] = chosen->second;
  return policies;
}

}  // namespace tidepool::policies
