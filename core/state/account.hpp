// What a job has cost: slots x time held x the node's price, in whole millionths, with the remainder
// kept so that many small charges sum to exactly what one long charge would.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Charges the job for the slots held since the last charge, day by day. Slots on a lost node and quarantined slots are
// free of charge. A time before the last charge charges nothing.
void charge(const ClusterState& state, Job& job, Instant until);
// Like charge(), and adds the charged amount to the use of the job's tenant, if the tenant is in the tree.
void charge_with_tenant(ClusterState& state, Job& job, Instant until);
// The account as charge() would leave it.
[[nodiscard]] Account account_at(const ClusterState& state, const Job& job, Instant until);

// Slots of the job's present workers, without the slots that are free of charge.
[[nodiscard]] int slots_in_use(const ClusterState& state, const Job& job);
// What the account amounted to at the end of that day in UTC (days since 1970), or as far as it has been charged.
[[nodiscard]] Used used_until(const ClusterState& state, const Account& account, std::int64_t day);
// The overhead part of used_until().
[[nodiscard]] Overheads overheads_until(const ClusterState& state, const Account& account, std::int64_t day);

// Budgets count a job's slots by their rate. Call leave_budgets() before the job's slots change (it charges the job up
// to that moment) and join_budgets() after the change. Neither does anything if the job's tenants have no budget.
void leave_budgets(ClusterState& state, const Job& job, Instant at);
void join_budgets(ClusterState& state, const Job& job);

// The cost per hour of the job's present workers.
[[nodiscard]] Money price_per_hour(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
