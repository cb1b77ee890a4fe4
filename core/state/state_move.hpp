// Transfers of saved states from one node to another: which state, to which node, and how long the transfer may take.
#pragma once

#include <optional>

#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// The kept state with the most steps; the parked state if both have equally many, nullptr if there is none.
[[nodiscard]] const SavedState* newest_kept(const Job& job);

// The only node that has the state from which the job would continue; none if every node sees it, or there is no state.
// If two nodes have it, one that is up.
[[nodiscard]] NodeId holder_of_state(const ClusterState& state, const Job& job);

// The job's newest state can be fetched from its node: the node is up, closed or not, and its agent supports it.
[[nodiscard]] bool can_be_fetched(const ClusterState& state, const Job& job);

// The transfer with which a start of this gang begins: to the first of its nodes whose agent can fetch states. Its time
// is the time of the start. None: the state is there already, there is none, or it cannot be moved.
[[nodiscard]] std::optional<StateMove> move_for(const ClusterState& state, const Job& job,
                                                const std::vector<WorkerPlacement>& gang);

// The worker is not started before that state has arrived.
[[nodiscard]] bool awaits(const StateMove& move, const Worker& worker);

// After this time the transfer counts as failed, whatever the agents report: it allows for a quarter of the slowest
// rate that an agent must reach, plus a minute for problems on the way.
[[nodiscard]] Duration longest_move(std::int64_t bytes);
inline constexpr std::int64_t kStateRateMin = std::int64_t{1} << 20;  // bytes a second

}  // namespace tidepool::core
