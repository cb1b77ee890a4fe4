#include "policies/cluster/queue_grants.hpp"

#include <utility>

namespace tidepool::policies::cluster {

Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = std::move(queue)};
  const int all = view.slots();
  int free = all;
  int waiting = 0;
  for (const std::size_t row : allocation.order) {
    const JobRow& job = view.jobs[row];
    Grant& grant = allocation.grants[row];
    grant.mark = job.mark;
    const double needed = job.size_wanted;
    if (job.size_wanted > all) {
      grant.reason = {core::ReasonCode::kNeverFits, {{"needed", needed}, {"cluster", double(all)}}};
    } else if (overtaking == Overtaking::kNever && waiting > 0) {
      ++waiting;
      grant.reason = {core::ReasonCode::kBehindOlderJob,
                      {{"ahead", double(waiting - 1)}, {"needed", needed}, {"free", double(free)}}};
    } else if (job.size_wanted > free) {
      ++waiting;
      grant.reason = {core::ReasonCode::kWaitingForSlots, {{"needed", needed}, {"free", double(free)}}};
    } else {
      free -= job.size_wanted;
      grant.size = job.size_wanted;
      grant.reason = {core::ReasonCode::kFixedSize, {{"size", needed}}};
    }
  }
  return allocation;
}

}  // namespace tidepool::policies::cluster
