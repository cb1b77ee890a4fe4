// How many deadlines no policy can exceed, however much it knew in advance. Slots are one pool in which a job needs
// only the slot-seconds that it takes at its most efficient size, and either all jobs are there from the start or all
// are due at the end; then leaving out the largest job whenever a deadline cannot be met is the best of all (Moore,
// Management Science 15(1), 1968). The smaller of the two counts holds. Loose where load comes in waves.
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::sim {

struct DueJob {
  double submitted_s = 0;
  double due_s = 0;
  double seconds = 0;       // at its fastest
  double slot_seconds = 0;  // at its most efficient size
};
[[nodiscard]] std::int64_t most_in_time(const std::vector<DueJob>& jobs, int slots);

}  // namespace tidepool::sim
