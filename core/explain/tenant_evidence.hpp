// What a job's tenant may have and has, where tenants share the pool. Names no other tenant, but for keepers_for() and
// keepers_evidence().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"
#include "core/tenants/kept_slots.hpp"

namespace tidepool::core {

// Slots of nodes that are up which the tenant's jobs hold.
[[nodiscard]] int slots_of_tenant(const ClusterState& state, const std::string& tenant);

// The slots that the tenant may have, where its jobs could use more than that.
[[nodiscard]] std::optional<int> binding_share(const ClusterState& state, const std::string& tenant);

// Its jobs hold all that it may have, so that only their end, or a larger share, gives another one slots.
[[nodiscard]] bool has_used_share(const ClusterState& state, const std::string& tenant);

// What its tenant's jobs that ask for it may have of the type of slots that the job is on, where its next size would be
// beyond that.
struct TypePart {
  std::string type;
  int slots = 0;
};
[[nodiscard]] std::optional<TypePart> binding_part(const ClusterState& state, const Job& job);

// "; tenant vision may have 5 slots now, and its jobs hold 4", of a job that needs more slots than its tenant's share
// has left, where no more free slots of the pool would help it. Else empty.
[[nodiscard]] std::string share_waited_for(const ClusterState& state, const Job& job);

// What guarantees that are not lent keep from the job's tenant, where its jobs could use more than it may have. Costs
// two divisions of the tree.
[[nodiscard]] int slots_kept_by_guarantees(const ClusterState& state, const Job& job);

// "tenant vision may have 5 slots now, 2 of them guaranteed; its jobs hold 5 slots". Empty where tenants share nothing,
// or the job has ended.
[[nodiscard]] std::vector<std::string> tenant_evidence(const ClusterState& state, const Job& job,
                                                       int kept_by_guarantees);

// The tenants that keep the slots counted by slots_kept_by_guarantees(), as far as the caller may see them.
[[nodiscard]] std::vector<Keeper> keepers_for(const ClusterState& state, const Job& job, const TenantFilter& is_seen);
// "tenant speech keeps 3 slots of these (lend: 0)" of each.
[[nodiscard]] std::vector<std::string> keepers_evidence(const std::vector<Keeper>& keepers);

// Of the budgets that keep a job without slots from starting, the one that is renewed last: then it may go on.
[[nodiscard]] std::optional<reason::OfBudget> last_renewed(const ClusterState& state, const Job& job);

// Of a job that a budget holds: those on its tenant's path that hold it, too, but for the one that `told` names.
[[nodiscard]] std::vector<std::string> budget_evidence(const ClusterState& state, const Job& job, const Reason& told);

}  // namespace tidepool::core
