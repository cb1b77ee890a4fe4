// Saved states that are brought from one node to another: which, where to, and how long that may take.
#pragma once

#include <optional>

#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// The kept state with the most steps; the parked one if both have as many, nullptr if there is none.
[[nodiscard]] const SavedState* newest_kept(const Job& job);

// The node that alone holds what the job would go on from; none if every node sees it, or there is nothing. Of two
// nodes that have it, one that is up.
[[nodiscard]] NodeId holder_of_state(const ClusterState& state, const Job& job);

// The job's newest state can be fetched from where it lies: its node is up, closed or not, and its agent can.
[[nodiscard]] bool can_be_fetched(const ClusterState& state, const Job& job);

// The move with which a start of this gang begins: to the first of its nodes that can bring states. Its time is that of
// the start. None: the state is there already, there is none, or it cannot be moved.
[[nodiscard]] std::optional<StateMove> move_for(const ClusterState& state, const Job& job,
                                                const std::vector<WorkerPlacement>& gang);

// The worker is not started before that state has come.
[[nodiscard]] bool awaits(const StateMove& move, const Worker& worker);

// The move counts as lost after so long, whatever the agents say: at a quarter of the slowest rate that an agent can be
// held to, and with a minute for what goes wrong on the way.
[[nodiscard]] Duration longest_move(std::int64_t bytes);
inline constexpr std::int64_t kStateRateMin = std::int64_t{1} << 20;  // bytes a second

}  // namespace tidepool::core
