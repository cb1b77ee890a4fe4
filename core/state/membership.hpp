// Which workers are in a job, have left it or are joining: questions that step, accept and the planner must answer in
// the same way.
#pragma once

#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A worker that still runs, as far as is known: its node is not lost, and its slots are not quarantined.
[[nodiscard]] bool is_live(const ClusterState& state, WorkerId id);
[[nodiscard]] bool has_live_workers(const ClusterState& state, const Job& job);

// Members that still run and were not asked to end, in rank order.
[[nodiscard]] std::vector<WorkerId> survivors(const ClusterState& state, const Job& job);
[[nodiscard]] std::size_t survivor_count(const ClusterState& state, const Job& job);

// The worker has not joined yet, and was not ordered to stop.
[[nodiscard]] bool boots(const Worker& worker);

// The number of its workers once the booting ones have joined and the leaving ones have exited.
[[nodiscard]] int size_with_joining(const Job& job);

// A member, or a leaving worker that waits for its switch: when the job is parked, such a worker leaves on its own with
// the state it holds.
[[nodiscard]] bool may_hold_state(const Worker& worker);

// Every member runs, and none was ordered to stop.
[[nodiscard]] bool all_members_stay(const ClusterState& state, const Job& job);

// For a job whose programs are restarted: a worker whose program of an older generation may still run; none = every
// member has reported that it waits for the newest generation, and every other worker has exited.
[[nodiscard]] std::optional<WorkerId> still_running(const ClusterState& state, const Job& job);

// A transition whose generation has been committed and waits for the members to switch.
[[nodiscard]] bool awaits_switch(const Job& job);

// Steps have been reported since its newest start.
[[nodiscard]] bool has_stepped(const Job& job);

// The job ends, or will soon hold no slots: the exits of its workers are expected.
[[nodiscard]] bool winds_down(const Job& job);

// The worker leaves or is being killed, and is_live(): its slots become free without a further decision.
[[nodiscard]] bool is_on_its_way_out(const Job& job, const Worker& worker);

[[nodiscard]] bool contains(const std::vector<WorkerId>& list, WorkerId id);
// Those of `workers` that are members of the job, in rank order.
[[nodiscard]] std::vector<WorkerId> members_among(const Job& job, const std::vector<WorkerId>& workers);

}  // namespace tidepool::core
