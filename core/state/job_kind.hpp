// Which jobs do the same kind of work, so that what one of them measured says what another may expect: they run the
// same program, at the same batch, on workers as large. Pure, and the same in each version that writes journals.
//
// Rules. A program is its trainer with its arguments, or its command, in either without the numbers: those differ from
// run to run (a seed, a rate of learning), while words name what is trained. Where a number does matter, the speeds of
// kin are off by a factor, which a job's own first measurement puts right (policies/engine/kin_sizes.hpp).
#pragma once

#include <cstdint>

#include "core/state/job_spec.hpp"

namespace tidepool::core {

// A fingerprint; 0 = it names no program, so that it has no kin.
[[nodiscard]] std::uint64_t kind_of(const JobSpec& spec);

}  // namespace tidepool::core
