// Which running jobs may give way for a claim, and which of them first, while the pool's limit lets through only some
// of the preemptions that a plan needs (churn.pool).
//
// Safe rule. What of a plan is let through moves no slot to a tenant that has what the plan gives it from one that has
// no more than that, and leaves none below its guarantee, or below what the plan gives it if that is less, unless a
// guarantee covers the claim. It holds for all jobs of an answer together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

// By a tenant and those below it.
using SlotsByTenant = std::map<std::string, std::int64_t, std::less<>>;

class VictimOrder {
 public:
  // `planned`: what the plan gives each tenant. All outlive it.
  VictimOrder(const TenantsByName& tree, const SlotsByTenant& planned, PreemptionLimits& limits)
      : tree_(tree), planned_(planned), limits_(limits) {}
  VictimOrder(const TenantTree&, const SlotsByTenant&, PreemptionLimits&) = delete;  // an index of it would not last

  // Indices of those that may give way: of tenants that have more than the plan gives them, then of the claimant's own,
  // or the latter first where the claimant's has what the plan gives it; then others. Else as they are given.
  [[nodiscard]] std::vector<std::size_t> of(const std::vector<const Job*>& victims, const SlotsFor& claim);

 private:
  [[nodiscard]] std::int64_t planned_for(const std::string& tenant) const;
  void take(const Job& job);
  [[nodiscard]] bool leaves_planned(const Job& job);
  [[nodiscard]] bool leaves_guaranteed(const Job& job, const Job& claimant);

  const TenantsByName& tree_;
  const SlotsByTenant& planned_;
  PreemptionLimits& limits_;
  SlotsByTenant taken_;  // by those of the answer so far that are not the claimant's
};

}  // namespace tidepool::core
