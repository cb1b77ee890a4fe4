#include "schedulerd/live/http/numbers/job_use.hpp"

#include <cmath>

#include "core/state/account.hpp"

namespace tidepool::live::http {

core::Used used_now(const core::ClusterState& state, const core::Job& job, Instant now) {
  if (job.membership.workers.empty()) return {job.account.slot_time, job.account.cost};
  const core::Account account = core::account_at(state, job, now);
  return {account.slot_time, account.cost};
}

double slot_seconds(Duration held) {
  return static_cast<double>(held.count_us()) / 1e6;
}

double slot_hours(Duration held) {
  return std::round(static_cast<double>(held.count_us()) / 3.6) / 1e9;
}

}  // namespace tidepool::live::http
