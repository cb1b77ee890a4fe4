// How many more slots each tenant's guarantee covers while a decision hands out slots: the guarantee minus the slots
// that its jobs hold and are given.
//
// Rule: a claim is covered by a guarantee as a whole or not at all. A guarantee counts only against other tenants: the
// guarantee of a tenant above both jobs has no effect between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class GuaranteeRoom {
 public:
  // Starts from the slots that jobs hold now, or are about to hold. The state outlives it.
  explicit GuaranteeRoom(const ClusterState& state);

  // The tenant's jobs are given `slots` more slots; below 0: they release slots.
  void add(const std::string& tenant, std::int64_t slots);
  // Slots that the jobs of the tenant, and of those below it, then hold.
  [[nodiscard]] std::int64_t held(std::string_view tenant) const;
  // Slots that some guarantee, of the tenant or of one above it, covers against jobs of `other`; empty: against all.
  [[nodiscard]] std::int64_t beside(std::string_view tenant, std::string_view other) const;

 private:
  const ClusterState& state_;
  std::map<std::string, std::int64_t, std::less<>> held_;  // by a tenant and the tenants below it
};

}  // namespace tidepool::core
