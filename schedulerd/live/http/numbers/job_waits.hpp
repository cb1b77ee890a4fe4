// When a job waited, and for what, from the decisions that the store has of it. Pure.
//
// Rule: reasons that say the same thing (core::says_the_same) are one wait, told with the newest of their numbers. A
// wait ends when the job starts or ends, or when something else keeps it; a suspended job waits for its user.
#pragma once

#include <optional>
#include <vector>

#include "core/state/plan.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

inline constexpr int kDecisionsOfWaits = 200;  // so many of the newest are looked at
inline constexpr std::size_t kWaitsMost = 50;  // the newest ones

struct JobWait {
  Instant from;
  std::optional<Instant> until;  // none: it goes on
  core::Reason reason;
};

// Oldest first. `newest_first`: decisions that name the job, as SqliteHistory gives them.
[[nodiscard]] std::vector<JobWait> waits_of(const core::Job& job, const std::vector<StoredDecision>& newest_first);

}  // namespace tidepool::live::http
