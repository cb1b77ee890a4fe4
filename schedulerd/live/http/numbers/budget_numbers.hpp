// How a tenant's budget stands, and how it will if its jobs go on holding what they hold, at the prices
// listed for the times to come. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

struct BudgetNumbers {
  Money spent;     // in the present window
  Money rate;      // an hour
  Money expected;  // by the end of the window
  Instant window_ends;
  std::optional<Instant> limit_at;  // when the limit will be reached; none: it has been, or will not in this window
  std::optional<core::BudgetThreshold> in_force = {};  // none: nothing is done to jobs
  struct Next {
    core::BudgetThreshold threshold;
    Instant at;
  };
  std::optional<Next> next = {};  // that does more to jobs than what is in force; none: not in this window
};

[[nodiscard]] BudgetNumbers budget_numbers(const core::ClusterState& state, const std::string& tenant,
                                           const core::BudgetAccount& account, Instant now);

}  // namespace tidepool::live::http
