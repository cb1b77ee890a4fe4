#include "studies/baselines/registry.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/word_list.hpp"
#include "policies/registry.hpp"

namespace tidepool::studies {

using policies::cluster::AllocationPreset;

const std::vector<AllocationPreset>& all_presets() {
  static const std::vector<AllocationPreset> all = [] {
    std::vector<AllocationPreset> presets;
    std::ranges::copy_if(policies::kPolicies, std::back_inserter(presets), policies::cluster::is_replayed);
    presets.insert(presets.end(), kBaselines.begin(), kBaselines.end());
    std::ranges::sort(presets, {}, &AllocationPreset::name);
    return presets;
  }();
  return all;
}

Result<AllocationPreset> find_preset(std::string_view name) {
  for (const AllocationPreset& preset : all_presets()) {
    if (preset.name == name) return preset;
  }
  return invalid_argument("there is no policy called \"" + std::string(name) +
                          "\" for the whole cluster; there are: " + word_list(all_presets(), &AllocationPreset::name));
}

Result<std::map<std::string, std::shared_ptr<const core::Policy>>> make_policies(std::string_view default_name) {
  const auto preset = std::ranges::find(kBaselines, default_name, &AllocationPreset::name);
  if (preset != kBaselines.end() && !runs_live(*preset)) {
    return not_found("the policy \"" + std::string(default_name) +
                     "\" reads the true speed of every job, which no daemon knows: it is for replays, such as "
                     "schedctl sim run --simulator pollux; schedctl sim ls says which policies run live");
  }
  return policies::make_policies(default_name, kBaselines);
}

}  // namespace tidepool::studies
