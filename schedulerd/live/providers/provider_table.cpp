#include "schedulerd/live/providers/provider_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "schedulerd/live/providers/exec_provider.hpp"
#include "schedulerd/live/providers/slurm_provider.hpp"
#include "schedulerd/live/providers/slurm_settings.hpp"

namespace tidepool::live {
namespace {

constexpr std::array kProviders = {
    ProviderKind{"exec", check_exec_command, make_exec_provider},
    ProviderKind{"slurm", check_slurm_settings, make_slurm_provider},
};

}  // namespace

const ProviderKind* provider_kind(std::string_view name) {
  const auto* found =
      std::find_if(kProviders.begin(), kProviders.end(), [&](const ProviderKind& kind) { return kind.name == name; });
  return found == kProviders.end() ? nullptr : found;
}

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const ProviderKind& kind : kProviders) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<NodeProvider> make_provider(const std::string& name, ProviderSetup setup) {
  const ProviderKind* kind = provider_kind(name);
  return kind == nullptr ? nullptr : kind->make(std::move(setup));
}

}  // namespace tidepool::live
