// Which workers are in a job, have left it or are on the way: questions that step, accept and the
// planner must answer alike.
#pragma once

#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A worker that still runs, as far as is known: its node is not lost, and its slots are not quarantined.
[[nodiscard]] bool is_live(const ClusterState& state, WorkerId id);
[[nodiscard]] bool has_live_workers(const ClusterState& state, const Job& job);

// Members that still run and have not been told to end, in rank order.
[[nodiscard]] std::vector<WorkerId> survivors(const ClusterState& state, const Job& job);
[[nodiscard]] std::size_t survivor_count(const ClusterState& state, const Job& job);

// It has still to join, and has not been told to stop.
[[nodiscard]] bool boots(const Worker& worker);

// How many workers it has once those that boot have joined and those that leave are gone.
[[nodiscard]] int size_with_joining(const Job& job);

// A member, or a leaving worker that waits for its switch: when the job is parked, it leaves by itself with what it
// holds.
[[nodiscard]] bool may_hold_state(const Worker& worker);

// Every member runs, and none has been told to stop.
[[nodiscard]] bool all_members_stay(const ClusterState& state, const Job& job);

// Of a job whose programs are restarted: a worker whose program of an older generation may still run; none = every
// member has said that it waits for the newest generation, and every other worker is gone.
[[nodiscard]] std::optional<WorkerId> still_running(const ClusterState& state, const Job& job);

// A transition whose generation has been committed and waits for the members to switch.
[[nodiscard]] bool awaits_switch(const Job& job);

// Steps have been told since its newest start.
[[nodiscard]] bool has_stepped(const Job& job);

// The job ends, or will hold nothing soon: its workers' exits are expected.
[[nodiscard]] bool winds_down(const Job& job);

// It leaves or is killed, and is_live(): its slots come free without a further decision.
[[nodiscard]] bool is_on_its_way_out(const Job& job, const Worker& worker);

[[nodiscard]] bool contains(const std::vector<WorkerId>& list, WorkerId id);
// Those of these workers that are members of the job, in rank order.
[[nodiscard]] std::vector<WorkerId> members_among(const Job& job, const std::vector<WorkerId>& workers);

}  // namespace tidepool::core
