// Whether the limits of tenants would let a waiting job start if slots were free for it. If not, no node is bought for
// it, because it could not use one. An estimate: the plan decides which jobs start (tenant_planner.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {

class StartLimits {
 public:
  // Everything is allowed while there are no tenants.
  explicit StartLimits(const ClusterState& state);

  // Whether the job may start at its smallest size, in addition to the running jobs and those already taken, at their
  // smallest sizes: within what its tenant and those above may borrow and, if its slots could not be reclaimed, within
  // their guarantees; and a pool with `slots_more` more slots would give its tenant that many.
  [[nodiscard]] bool allow(const Job& job, int slots_more) const;
  void take(const Job& job);

 private:
  struct Sums {
    std::int64_t least = 0;  // slots of its jobs at their smallest sizes, with those of tenants below it
    std::int64_t firm = 0;   // of these, slots that could not be reclaimed
  };
  void add(const Job& job, int least);
  [[nodiscard]] bool is_entitled(std::size_t leaf, std::int64_t slots, int slots_more) const;

  int slots_ = 0;  // shared by tenants
  std::vector<TenantNode> nodes_;
  TenantPlaces places_;
  std::vector<Sums> sums_;  // by node
};

}  // namespace tidepool::core
