// What guarantees of slot types still cover, given what jobs that request particular nodes hold: computed once for a
// state, so that a query about a job costs the tenants on its path.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class TypeGuarantees {
 public:
  // Slots held by a tenant and those below it, per type.
  using Held = std::map<std::pair<std::string_view, std::string_view>, int>;

  // The state outlives it and does not change.
  explicit TypeGuarantees(const ClusterState& state);

  // The job requests particular nodes: by their properties, or because its price cap excludes others.
  [[nodiscard]] bool asks(const Job& job) const;
  // For some type on which the job may run, its tenant, or one above it, is guaranteed at least `slots` more slots than
  // that tenant's jobs that request particular nodes hold of the type.
  [[nodiscard]] bool cover(const Job& job, int slots) const;
  // The job waits, requests particular nodes, and guarantees cover its smallest size.
  [[nodiscard]] bool are_claimed_by(const Job& job) const;
  // Counts the slots of a leaving worker as no longer held.
  void add_to(Held& gone, const Worker& worker) const;
  // Without the slots of this job, which requests particular nodes, and without `gone`, its tenant and each tenant
  // above it hold as much of every type as they are guaranteed. If so, its slots are added to `gone`.
  [[nodiscard]] bool spare(const Job& job, Held& gone) const;

 private:
  const ClusterState& state_;
  [[nodiscard]] int held(std::string_view tenant, std::string_view type) const;

  IdSet<JobId> bound_by_cap_;  // computed only if some tenant is guaranteed slots of a type
  Held held_;                  // empty if no tenant is guaranteed slots of a type
};

}  // namespace tidepool::core
