#include "policies/cluster/registry.hpp"

#include <string>

namespace tidepool::policies::cluster {

Result<AllocationPreset> find_allocation_preset(std::string_view name) {
  std::string known;
  for (const AllocationPreset& preset : kAllocationPresets) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  return invalid_argument("there is no policy called \"" + std::string(name) +
                          "\" for the whole cluster; there are: " + known);
}

}  // namespace tidepool::policies::cluster
