#include "policies/cluster/registry.hpp"

#include <string>

#include "base/word_list.hpp"

namespace tidepool::policies::cluster {

Result<AllocationPreset> find_allocation_preset(std::string_view name) {
  for (const AllocationPreset& preset : kAllocationPresets) {
    if (preset.name == name) return preset;
  }
  return invalid_argument("there is no policy called \"" + std::string(name) + "\" for the whole cluster; there are: " +
                          word_list(kAllocationPresets, &AllocationPreset::name));
}

}  // namespace tidepool::policies::cluster
