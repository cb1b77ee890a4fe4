// What a job has cost: slots x time held x the node's price, in whole millionths, with the remainder
// kept so that many small charges sum to exactly what one long charge would.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Charges the job for what it has held since the last charge, day by day. Slots on a lost node, and quarantined ones,
// cost it nothing. Time that lies before the last charge charges nothing.
void charge(const ClusterState& state, Job& job, Instant until);
// The same, and what is charged is added to what its tenant has used, if that is one of the tree.
void charge_with_tenant(ClusterState& state, Job& job, Instant until);
// The account as charge() would leave it.
[[nodiscard]] Account account_at(const ClusterState& state, const Job& job, Instant until);

// Slots of the job's present workers, those left out that cost it nothing.
[[nodiscard]] int slots_in_use(const ClusterState& state, const Job& job);
// What the account came to when the day in UTC ended, in days since 1970; or as far as it is charged.
[[nodiscard]] Used used_until(const ClusterState& state, const Account& account, std::int64_t day);
// What of that was overhead.
[[nodiscard]] Overheads overheads_until(const ClusterState& state, const Account& account, std::int64_t day);

// Budgets count what a job holds by its rate. Before what it holds changes it leaves them, charged up to that moment;
// after that it joins them again. Nothing where its tenants have no budget.
void leave_budgets(ClusterState& state, const Job& job, Instant at);
void join_budgets(ClusterState& state, const Job& job);

// What the job's present workers cost an hour.
[[nodiscard]] Money price_per_hour(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
