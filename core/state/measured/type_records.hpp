// On which slot type a job's records were measured. A speed on one type does not predict the speed on another, so the
// records of each type are kept separately; code that reads `measurements` reads the records of the type on which the
// job runs, or last ran.
//
// Costs of changes and boots are also kept by size: sizes within the same power of two share a record, so that there
// are few records however many sizes a job may have. A class that was never reached is assumed to cost what the changes
// of that kind have cost at all sizes.
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// The name for the records of a job that may be on several types at once: the records do not distinguish which of its
// workers was where.
inline constexpr const char* kMixedTypes = "*";

// The slot type of these workers: the type of the first worker whose type is known. Empty: none is known.
[[nodiscard]] std::string type_of_workers(const ClusterState& state, const std::vector<WorkerId>& workers);

// The slot type to which further workers of the job are bound: the type of its present workers. None: it has no
// members, or may mix types.
[[nodiscard]] std::optional<std::string> bound_type(const ClusterState& state, const Job& job);

// Some of its workers are on another slot type than the workers that leave for them: the job is in the middle of a
// move.
[[nodiscard]] bool is_split(const ClusterState& state, const Job& job);

// The expected speed of a worker of the job on this slot type, relative to the other types that the job requests: as
// measured, if the job was on all of them; else as its user states; 1 where the file says nothing.
[[nodiscard]] double expected_speed(const Job& job, const std::string& slot_type);

// From now on the job is measured on slots of this type; the records of another type are stored separately. Records
// whose type is unknown are assumed to be of this type.
void measure_on(Measurements& measurements, const std::string& slot_type);

// The cost of a change on the job's present slot type; if none was measured there, the cost on the type where it was
// measured most often: it depends more on the job than on the slots.
[[nodiscard]] const TransitionCost& cost_of(const Measurements& measurements, TransitionCost TypeRecords::* kind);
[[nodiscard]] const BootCost& boot_cost_of(const Measurements& measurements);

// The smallest size of the class of `workers`: 1, 2, 4, 8 and so on. 0 for kAnySize.
[[nodiscard]] constexpr int size_class(int workers) {
  return workers < 1 ? 0 : static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
}
inline constexpr int kAnySize = 0;

// Records that a change to `workers` workers stalled the job by `stall_ms`; with kAnySize it counts for no particular
// size.
void note_cost(TransitionCost& cost, int workers, double stall_ms);
void note_cost(BootCost& cost, int workers, double ms);
// The expected cost of a change to `workers` workers, in milliseconds; 0 if none was measured.
[[nodiscard]] double cost_at(const TransitionCost& cost, int workers);
[[nodiscard]] double cost_at(const BootCost& cost, int workers);

// States of earlier versions do not record on which type their jobs were measured. It is taken to be the type of the
// slots that they hold, or on which their newest state was written, or the only type of the cluster.
void name_slot_types(ClusterState& state);

}  // namespace tidepool::core
