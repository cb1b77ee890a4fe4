#include "core/state/measured/straggler_patience.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

constexpr int kDoublingsMax = 10;
constexpr std::int64_t kWaitsToForget = 4;

Duration wait_after(int replacements) {
  if (replacements == 0) return Duration();
  return kReplacementWait * (std::int64_t{1} << std::min(replacements - 1, kDoublingsMax));
}

}  // namespace

std::optional<Instant> next_replacement(const Job& job) {
  if (!job.recovery.last_replacement_at) return std::nullopt;
  return *job.recovery.last_replacement_at + wait_after(job.recovery.replacements);
}

void count_replacement(Job& job, Instant now) {
  const bool forgotten =
      job.recovery.last_replacement_at &&
      now >= *job.recovery.last_replacement_at + wait_after(job.recovery.replacements) * kWaitsToForget;
  job.recovery.replacements = forgotten ? 1 : job.recovery.replacements + 1;
  job.recovery.last_replacement_at = now;
}

}  // namespace tidepool::core
