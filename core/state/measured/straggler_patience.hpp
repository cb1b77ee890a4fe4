// When a named straggler may be replaced. On a shared machine, noise makes every worker look slow at times, and a
// joining worker on the same machine is no faster. So a worker must be named for many steps in a row, and after each
// replacement that did not help the next one is delayed longer.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Consecutive steps that must all leave the worker with a straggler's score. The score is a mean over about ten steps,
// so a single hiccup no longer affects it by then.
inline constexpr std::int64_t kStragglerStreak = 10;

// The wait before the second consecutive replacement in a job; it doubles with each further one. After four such waits
// without a replacement the job starts from the first wait again.
inline constexpr Duration kReplacementWait = Duration::seconds(30);

// The earliest time of the next replacement; none = at once.
[[nodiscard]] std::optional<Instant> next_replacement(const Job& job);

// Call when a replacement is accepted.
void count_replacement(Job& job, Instant now);

}  // namespace tidepool::core
