// What a job's tenant may have and has, where tenants share the pool. Names no other tenant, except in keepers_for()
// and keepers_evidence().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"
#include "core/tenants/kept_slots.hpp"

namespace tidepool::core {

// Slots of nodes that are up and that the tenant's jobs hold.
[[nodiscard]] int slots_of_tenant(const ClusterState& state, const std::string& tenant);

// The slots that the tenant may have, if its jobs could use more.
[[nodiscard]] std::optional<int> binding_share(const ClusterState& state, const std::string& tenant);

// The tenant's jobs hold all slots that it may have, so another job gets slots only when one ends or the share grows.
[[nodiscard]] bool has_used_share(const ClusterState& state, const std::string& tenant);

// The limit on slots of the job's present type for the tenant's jobs that request the type, if the job's next size
// would exceed it.
struct TypePart {
  std::string type;
  int slots = 0;
};
[[nodiscard]] std::optional<TypePart> binding_part(const ClusterState& state, const Job& job);

// "; tenant vision may have 5 slots now, and its jobs hold 4", for a job that needs more slots than are left in its
// tenant's share, and that more free slots of the pool would not help. Otherwise empty.
[[nodiscard]] std::string share_waited_for(const ClusterState& state, const Job& job);

// Slots that unlent guarantees keep from the job's tenant, if its jobs could use more than it may have. Costs two
// divisions of the tree.
[[nodiscard]] int slots_kept_by_guarantees(const ClusterState& state, const Job& job);

// "tenant vision may have 5 slots now, 2 of them guaranteed; its jobs hold 5 slots". Empty where tenants do not share
// the pool, or if the job has ended.
[[nodiscard]] std::vector<std::string> tenant_evidence(const ClusterState& state, const Job& job,
                                                       int kept_by_guarantees);

// The tenants that keep the slots counted by slots_kept_by_guarantees(), limited to those that the caller may see.
[[nodiscard]] std::vector<Keeper> keepers_for(const ClusterState& state, const Job& job, const TenantFilter& is_seen);
// "tenant speech keeps 3 slots of these (lend: 0)" for each of them.
[[nodiscard]] std::vector<std::string> keepers_evidence(const std::vector<Keeper>& keepers);

// Among the budgets that keep a job without slots from starting, the one that is renewed last: after that the job may
// continue.
[[nodiscard]] std::optional<reason::OfBudget> last_renewed(const ClusterState& state, const Job& job);

// For a job held by a budget: the other budgets on its tenant's path that hold it, without the one named by `told`.
[[nodiscard]] std::vector<std::string> budget_evidence(const ClusterState& state, const Job& job, const Reason& told);

}  // namespace tidepool::core
