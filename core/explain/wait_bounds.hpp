// Further limits that keep a job from slots, for explanations: its price cap, slot types that it may not mix, and nodes
// that its pools are creating or may still create. No decision reads it.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// The reason of a waiting job, with the limits that apply now.
[[nodiscard]] Reason reason_with_wait_bounds(const ClusterState& state, const Job& job, Reason reason);

// Sets the free slots that suit a running job, and the free slots of types that it does not accept.
void tell_free(const ClusterState& state, const Job& job, reason::NoSlotsToGrow& why);

// The number of slots of each type, for a job that waits for room and whose workers must be on one type.
[[nodiscard]] std::vector<std::string> evidence_of_one_type(const ClusterState& state, const Job& job);
// The job would have room, in free slots or in an empty cluster, if its workers could be on several types.
enum class RoomIn { kFreeSlots, kEmptyCluster };
[[nodiscard]] bool fits_if_mixed(const ClusterState& state, const Job& job, RoomIn room);

}  // namespace tidepool::core
