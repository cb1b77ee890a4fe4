// What a job has cost: slots x time held x the node's price, in whole millionths, with the remainder
// kept so that many small charges sum to exactly what one long charge would.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Charges the job for what it has held since the last charge. Slots on a lost node cost nothing.
// Time that lies before the last charge charges nothing.
void charge(const ClusterState& state, Job& job, Instant until);
// The same, and what is charged is added to what its tenant has used, if that is one of the tree.
void charge_with_tenant(ClusterState& state, Job& job, Instant until);

// Slots of the job's present workers, those on lost nodes left out.
[[nodiscard]] int slots_in_use(const ClusterState& state, const Job& job);
// What the job's present workers cost an hour, those on lost nodes left out.
[[nodiscard]] Money price_per_hour(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
