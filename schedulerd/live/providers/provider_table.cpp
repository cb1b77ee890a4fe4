#include <array>

#include "schedulerd/live/providers/exec_provider.hpp"
#include "schedulerd/live/providers/node_provider.hpp"
#include "schedulerd/live/providers/slurm_provider.hpp"

namespace tidepool::live {
namespace {

struct ProviderRow {
  const char* name;
  std::unique_ptr<NodeProvider> (*make)(ProviderSetup setup);
};
constexpr std::array kProviders = {
    ProviderRow{"exec", make_exec_provider},
    ProviderRow{"slurm", make_slurm_provider},
};

}  // namespace

std::unique_ptr<NodeProvider> make_provider(const std::string& name, ProviderSetup setup) {
  for (const ProviderRow& row : kProviders) {
    if (name == row.name) return row.make(std::move(setup));
  }
  return nullptr;
}

}  // namespace tidepool::live
