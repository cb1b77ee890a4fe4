// Changes to policy files: activated, evaluated, failed, rolled back. The last possible rollback is to the daemon's own
// policy, which needs no file.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const PolicyActivated& fact);
[[nodiscard]] Status apply(StateChange& change, const PolicyRolledBack& fact);
[[nodiscard]] Status apply(StateChange& change, const PolicyShadowed& fact);
// A failed round counts; after kPolicyFailuresMost consecutive failures it also causes a rollback.
[[nodiscard]] Status apply(StateChange& change, const PolicyAnswered& fact);

}  // namespace tidepool::core
