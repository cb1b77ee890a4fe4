// When a named straggler may be replaced. Noise on a shared machine makes every worker look slow now and then, and a
// joining worker on the same machine is no faster. So a worker must be named for many steps in a row, and after each
// replacement that did not help the next one waits longer.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Steps in a row that must all leave the worker a straggler's score. The score is a mean over about ten steps, so a
// single hiccup is gone from it by then.
inline constexpr std::int64_t kStragglerStreak = 10;

// The wait before the second replacement of a job in a row; it doubles with each further one. A job that has gone
// without any for four such waits starts anew.
inline constexpr Duration kReplacementWait = Duration::seconds(30);

// From when the next replacement is possible; none = at once.
[[nodiscard]] std::optional<Instant> next_replacement(const Job& job);

// To be called when a replacement is accepted.
void count_replacement(Job& job, Instant now);

}  // namespace tidepool::core
