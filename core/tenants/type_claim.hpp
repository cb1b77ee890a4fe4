// Whether guarantees of types of slots cover what a job claims of them.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Some tenant is guaranteed slots of a type: else the answers below are no, and need not be asked for.
[[nodiscard]] bool guarantees_types(const TenantTree& tree);
// Of a type on which the job may run, so many slots more are guaranteed to its tenant, or to one above it, than jobs of
// that tenant that ask for particular nodes hold of it.
[[nodiscard]] bool guarantee_covers_type(const ClusterState& state, const Job& job, int slots);
// It waits, asks for particular nodes, and such a guarantee covers its smallest size: it comes first in line, so that
// what was made free for it is not taken by a job that may be anywhere.
[[nodiscard]] bool claims_guaranteed_type(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
