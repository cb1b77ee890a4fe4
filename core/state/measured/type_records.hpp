// On which type of slot a job's records were measured. A speed on one type says nothing of the speed on another, so the
// records of each type are kept for themselves; all that reads `measurements` reads those of the type that the job runs
// on, or ran on last.
//
// What changes and boots cost is kept by size, too: sizes of the same power of two share a record, so that there are
// few however many sizes a job may have. A class that was never come to costs what the changes of that kind have cost
// at all sizes.
#pragma once

#include <bit>
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

// The smallest size of the class of this one: 1, 2, 4, 8 and so on. 0 of kAnySize.
[[nodiscard]] constexpr int size_class(int workers) {
  return workers < 1 ? 0 : static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
}
inline constexpr int kAnySize = 0;

// A change to so many workers has stalled the job for so long; with kAnySize it counts at no size of its own.
void note_cost(TransitionCost& cost, int workers, double stall_ms);
void note_cost(BootCost& cost, int workers, double ms);
// What one to so many workers is expected to cost, in milliseconds; 0 where none was measured.
[[nodiscard]] double cost_at(const TransitionCost& cost, int workers);
[[nodiscard]] double cost_at(const BootCost& cost, int workers);

// States of earlier versions do not tell on what their jobs were measured: it is the type of slot that they hold, or
// that their newest state was written on, or the only one of the cluster.
void name_slot_types(ClusterState& state);

}  // namespace tidepool::core
