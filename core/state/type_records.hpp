// On which type of slot a job's records were measured. A speed on one type says nothing of the speed on another, so the
// records of each type are kept for themselves; all that reads `measurements` reads those of the type that the job runs
// on, or ran on last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Under what name the records of a job are kept that may be on several types at a time: which of its workers was where
// is not told apart.
inline constexpr const char* kMixedTypes = "*";

// The type of slot that these workers are on: of the first one that is known. Empty: none of them is.
[[nodiscard]] std::string type_of_workers(const ClusterState& state, const std::vector<WorkerId>& workers);

// The type of slot to which further workers of the job are bound: that of those that it has. None: it has no members,
// or may mix types.
[[nodiscard]] std::optional<std::string> bound_type(const ClusterState& state, const Job& job);

// Some of its workers have come to another type than those that leave for it: it is in the middle of a move.
[[nodiscard]] bool is_split(const ClusterState& state, const Job& job);

// How fast a worker of the job is expected to be on this type of slot, beside the others that it asks for: as it was
// measured, if it was on all of them; else as its user states; 1 where the file says nothing.
[[nodiscard]] double expected_speed(const Job& job, const std::string& slot_type);

// From now on the job is measured on slots of this type; what was measured on another one is kept aside. Records of
// which the type was not known are taken to be of this one.
void measure_on(Measurements& measurements, const std::string& slot_type);

// What a change has cost on the type of slot that the job is on; before it was measured there, what it has cost where
// it was measured most often: it depends more on the job than on the slots.
[[nodiscard]] const TransitionCost& cost_of(const Measurements& measurements, TransitionCost TypeRecords::* kind);
[[nodiscard]] const BootCost& boot_cost_of(const Measurements& measurements);

// States of earlier versions do not tell on what their jobs were measured: it is the type of slot that they hold, or
// that their newest state was written on, or the only one of the cluster.
void name_slot_types(ClusterState& state);

}  // namespace tidepool::core
