// What tenants have and want now: of leaves from their jobs and the newest plan, of the others as sums. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

struct TenantNumbers {
  int held = 0;  // slots of its jobs' workers, those on lost nodes left out
  int waiting = 0;
  int running = 0;      // with those that start, or change their size
  core::TenantUse use;  // up to now
  // As the newest plan has it; a leaf without jobs wants nothing.
  int entitled = 0;
  int wanted = 0;
  bool satisfied = true;
  double loan = 0;
  std::map<std::string, int> of_types = {};  // TenantPlan::of_types; of tenants that have others below them: none
};

// Of each tenant of the state's tree, in its order.
[[nodiscard]] std::vector<TenantNumbers> tenant_numbers(const core::ClusterState& state, Instant now);

}  // namespace tidepool::live::http
