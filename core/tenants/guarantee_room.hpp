// How many more slots each tenant's guarantee covers while a decision hands out slots: the guarantee less what its jobs
// hold and are given.
//
// Rule: a claim is within a guarantee as a whole or not at all. A guarantee counts only against other tenants: that of
// a tenant above both jobs covers nothing between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class GuaranteeRoom {
 public:
  // Of what jobs hold now, or are about to. The state outlives it.
  explicit GuaranteeRoom(const ClusterState& state);

  // The tenant's jobs are given so many more; below 0: they give them up.
  void add(const std::string& tenant, std::int64_t slots);
  // What jobs of the tenant, and of those below it, hold then.
  [[nodiscard]] std::int64_t held(std::string_view tenant) const;
  // Slots that some guarantee covers, of the tenant or of one above it, against jobs of `other`; empty: against all.
  [[nodiscard]] std::int64_t beside(std::string_view tenant, std::string_view other) const;

 private:
  const ClusterState& state_;
  std::map<std::string, std::int64_t, std::less<>> held_;  // by a tenant and those below it
};

}  // namespace tidepool::core
