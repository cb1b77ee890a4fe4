// Which jobs do the same kind of work, so that the measurements of one job predict those of another: they run the same
// program, at the same batch, on workers of the same size. Pure, and the same in each version that writes journals.
//
// Rules. A program is its trainer with its arguments, or its command, in both cases without the numbers: numbers differ
// from run to run (a seed, a learning rate), while words name what is trained. Where a number does matter, the speeds
// of similar jobs are off by a factor, which a job's own first measurement corrects
// (policies/engine/similar_job_sizes.hpp).
#pragma once

#include <cstdint>

#include "core/state/job_spec.hpp"

namespace tidepool::core {

// A fingerprint; 0 = the job names no program, so no other job is of its kind.
[[nodiscard]] std::uint64_t kind_of(const JobSpec& spec);

}  // namespace tidepool::core
