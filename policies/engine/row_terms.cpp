#include "policies/engine/row_terms.hpp"

#include <algorithm>
#include <optional>

#include "core/state/largest_batch.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies::cluster {
namespace {

// A change binds its job for its cooldown: what turns out to be worth less cannot be taken back before, and what comes
// meanwhile finds it bound. So it is charged as if it stood still for so long; at most for a minute, so that a job
// with a long cooldown can still move.
constexpr Duration kBoundMost = Duration::seconds(60);

// Costs of changes to this many workers.
TransitionCosts costs_of(const core::Job& job, int workers) {
  const Duration bound = std::min(job.spec.elastic.cooldown, kBoundMost);
  const Duration resume = core::resume_cost(job);
  if (job.spec.resize == core::ResizeMode::kRestart) {
    const Duration change = core::restart_stall(job, workers) + bound;
    const Duration start = core::resume_cost(job, workers);
    return {.grow = change, .shrink = change, .move = change, .start = start, .boot = {}, .resume = resume};
  }
  const Duration boot = core::boot_time(job, workers);
  return {.grow = core::change_stall(job, &core::TypeRecords::grow_cost, workers) + bound,
          .shrink = core::change_stall(job, &core::TypeRecords::shrink_cost, workers) + bound,
          .move = core::change_stall(job, &core::TypeRecords::replace_cost, workers) + bound,
          .start = boot,
          .boot = boot,
          .resume = resume};
}

// Why a job that holds slots may not have the next of its own sizes, where that is no matter of its measurements.
std::optional<core::Reason> bound_of(const core::ClusterState& state, const core::Job& job, int room,
                                     const JobRow& row) {
  if (reports_nothing(job)) return core::reason::NoMeasurements{{.size = row.size_max}};
  const int each = row.slots_per_worker;
  const AllowedSizes ladder = ladder_of(state, job);
  if (ladder.sizes.empty()) return std::nullopt;  // the cut is of the size that it keeps, and not of the next one
  if (ladder.cut_short && !ladder.has(row.size_beyond / each)) {
    const std::int64_t most = core::largest_batch(job.spec.batch);
    if (row.size_beyond / each <= most) return ladder.cut;
    return core::reason::BatchTooSmall{.size = row.size_beyond, .global = most};
  }
  if (row.size_beyond <= room) return std::nullopt;
  return core::reason::NoSlotsToGrow{.wanted = row.size_beyond - row.size_max, .all = room};
}

}  // namespace

void set_costs(const core::Job& job, JobRow& row) {
  row.costs = costs_of(job, core::kAnySize);
  row.transition = std::max({row.costs.grow, row.costs.shrink, row.costs.move});
  for (const int size : core::sizes_of_costs(job)) {
    TransitionCosts costs = costs_of(job, size);
    if (costs != row.costs) row.costs_by_size.push_back({.workers = size, .costs = costs});
  }
}

// What a program tells counts once its speed was measured: before that its samples say nothing of how long they take.
// Of one whose speed never is, it counts as if declared.
void set_work(const core::Job& job, const JobSpeed& speed, JobRow& row) {
  const double batch = double(job.spec.batch.global);
  row.steps_done = double(job.progress.samples) / batch;
  if (job.spec.deadline) row.deadline = job.submitted_at + *job.spec.deadline;
  const auto left = core::samples_left(job);
  const bool tells = job.spec.work_samples || speed.is_known() || reports_nothing(job);
  if (!left || !tells) return;
  row.steps_left = *left / batch;
  row.useful_left = row.steps_left;
}

void set_beyond(const core::ClusterState& state, const core::Job& job, int room, JobRow& row) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto next = std::upper_bound(sizes.begin(), sizes.end(), row.size_max / row.slots_per_worker);
  if (next == sizes.end()) return;
  row.size_beyond = *next * row.slots_per_worker;
  if (!row.placement.empty() && row.pinned == 0) row.bound = bound_of(state, job, room, row);
}

}  // namespace tidepool::policies::cluster
