// What guarantees of types of slots cover beside what jobs that ask for particular nodes hold: looked up once for a
// state, so that asking about a job costs the tenants on its path.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class TypeGuarantees {
 public:
  // Slots by a tenant and those below it, and type.
  using Held = std::map<std::pair<std::string_view, std::string_view>, int>;

  // The state outlives it and stays as it is.
  explicit TypeGuarantees(const ClusterState& state);

  // It asks for particular nodes: by what they are, or because its price cap keeps it from others.
  [[nodiscard]] bool asks(const Job& job) const;
  // Of a type on which the job may run, so many slots more are guaranteed to its tenant, or to one above it, than jobs
  // of that tenant that ask for particular nodes hold of it.
  [[nodiscard]] bool cover(const Job& job, int slots) const;
  // The job waits, asks for particular nodes, and they cover its smallest size.
  [[nodiscard]] bool are_claimed_by(const Job& job) const;
  // The slots of a worker that leaves are no longer held.
  void add_to(Held& gone, const Worker& worker) const;
  // Without the slots of this job, which asks for particular nodes, and without `gone`, its tenant and each above it
  // hold as much of every type as they are guaranteed. Then its slots are gone, too.
  [[nodiscard]] bool spare(const Job& job, Held& gone) const;

 private:
  const ClusterState& state_;
  [[nodiscard]] int held(std::string_view tenant, std::string_view type) const;

  IdSet<JobId> bound_by_cap_;  // looked up only where some tenant is guaranteed slots of a type
  Held held_;                  // empty where no tenant is guaranteed slots of a type
};

}  // namespace tidepool::core
