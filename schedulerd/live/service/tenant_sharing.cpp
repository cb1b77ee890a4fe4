#include "schedulerd/live/service/tenant_sharing.hpp"

namespace tidepool::live {
namespace {

constexpr const char* kNotApplied =
    ": guarantees, weights, borrow and lend of tenants are not applied, only what their jobs may ask for; ";

}  // namespace

std::optional<std::string> why_not_shared(const core::PolicyDeployment& deployment, const OwnPolicy& own) {
  if (deployment.active && deployment.active->shares) return std::nullopt;
  if (deployment.active) {
    return "the policy file " + deployment.active->name + " shares the slots itself" + kNotApplied +
           "give it the hook share (docs/policies.md), or `schedctl policy rollback` goes back to the policy before it";
  }
  if (own.plans_for_all) return std::nullopt;
  return "the policy " + own.name + " sizes each job by itself" + kNotApplied +
         "start the daemon with a policy that plans for all jobs, such as --policy tidal";
}

}  // namespace tidepool::live
