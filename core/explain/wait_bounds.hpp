// Further bounds that keep a job from slots, for explanations: its price cap, types of slot that it may not mix, and
// what its pools have on the way or may still bring. Nothing is decided by it.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// The reason of a job that waits, with what binds it now.
[[nodiscard]] Reason told_of_wait(const ClusterState& state, const Job& job, Reason reason);

// Free slots that suit a job that runs, and those of other types than it takes.
void tell_free(const ClusterState& state, const Job& job, reason::NoSlotsToGrow& why);

// How many slots there are of each type, of a job whose workers have to be on one type and that waits for room.
[[nodiscard]] std::vector<std::string> evidence_of_one_type(const ClusterState& state, const Job& job);
// The job would have room, free or else in an empty cluster, if its workers could be on several types.
enum class RoomIn { kFreeSlots, kEmptyCluster };
[[nodiscard]] bool fits_if_mixed(const ClusterState& state, const Job& job, RoomIn room);

}  // namespace tidepool::core
