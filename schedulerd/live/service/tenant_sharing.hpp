// Whether slots are divided by the tree of tenants: under a policy of the daemon that plans for the whole cluster, and
// under a policy file with the hook share (docs/fairness.md). Limits on a tenant's jobs apply under every policy.
#pragma once

#include <optional>
#include <string>

#include "core/state/policy_deployment.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::live {

// The daemon's own policy.
struct OwnPolicy {
  std::string name;
  bool plans_for_all = false;  // instead of job by job
};

// Why shares are not applied while a tree is set, in words that name the policy; none: they are.
[[nodiscard]] std::optional<std::string> why_not_shared(const core::PolicyDeployment& deployment, const OwnPolicy& own);

// The guarantees of a tree that is not applied: "lab 8, guests 2 and 3 more"; empty: it has none.
[[nodiscard]] std::string unheld_guarantees(const core::TenantTree& tree);

}  // namespace tidepool::live
