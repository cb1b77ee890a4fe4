#include "schedulerd/live/service/tenant_sharing.hpp"

#include <cstddef>
#include <vector>

#include "base/word_list.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kTenantsTold = 8;
constexpr const char* kNotApplied =
    ": guarantees, weights, borrow and lend of tenants are not applied, only what their jobs may ask for; ";

}  // namespace

std::optional<std::string> why_not_shared(const core::PolicyDeployment& deployment, const OwnPolicy& own) {
  if (deployment.active && deployment.active->shares) return std::nullopt;
  if (deployment.active) {
    return "the policy file " + deployment.active->name + " has no hook share and shares the slots itself" +
           kNotApplied +
           "give it the hook (docs/policies.md), or `schedctl policy rollback` goes back to the policy before it";
  }
  if (own.plans_for_all) return std::nullopt;
  return "the policy " + own.name + " sizes each job by itself" + kNotApplied +
         "start the daemon with a policy that plans for all jobs, such as --policy tidal";
}

std::string unheld_guarantees(const core::TenantTree& tree) {
  std::vector<std::string> guarantees;
  for (const core::Tenant& tenant : tree.tenants) {
    if (tenant.guarantee > 0) guarantees.push_back(tenant.name + " " + std::to_string(tenant.guarantee));
  }
  return first_words(guarantees, kTenantsTold, [](std::size_t count) { return std::to_string(count) + " more"; });
}

}  // namespace tidepool::live
