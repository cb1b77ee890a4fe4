// Which running jobs may be preempted for a claim, and in which order, while the pool's limit permits only some of the
// preemptions that a plan needs (churn.pool).
//
// Safe rule. The permitted part of a plan moves no slot from a tenant that has no more than the plan gives it to a
// tenant that already has what the plan gives it, and leaves no tenant below its guarantee, or below what the plan
// gives it if that is less, unless a guarantee covers the claim. This applies to all jobs of an answer together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

// Slots of a tenant and those below it.
using SlotsByTenant = std::map<std::string, std::int64_t, std::less<>>;

class VictimOrder {
 public:
  // `planned`: what the plan gives each tenant. All arguments outlive it.
  VictimOrder(const TenantsByName& tree, const SlotsByTenant& planned, PreemptionLimits& limits)
      : tree_(tree), planned_(planned), limits_(limits) {}
  VictimOrder(const TenantTree&, const SlotsByTenant&, PreemptionLimits&) = delete;  // an index of it would not last

  // Indices of jobs that may be preempted: first jobs of tenants that have more than the plan gives them, then jobs of
  // the claimant's own tenant (in reverse if the claimant's tenant has what the plan gives it); then others. Otherwise
  // in the given order.
  [[nodiscard]] std::vector<std::size_t> of(const std::vector<const Job*>& victims, const SlotsFor& claim);

 private:
  [[nodiscard]] std::int64_t planned_for(const std::string& tenant) const;
  void take(const Job& job);
  [[nodiscard]] bool leaves_planned(const Job& job);
  [[nodiscard]] bool leaves_guaranteed(const Job& job, const Job& claimant);

  const TenantsByName& tree_;
  const SlotsByTenant& planned_;
  PreemptionLimits& limits_;
  SlotsByTenant taken_;  // by jobs of the answer so far that are not of the claimant's tenant
};

}  // namespace tidepool::core
