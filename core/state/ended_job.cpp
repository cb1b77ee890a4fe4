#include "core/state/ended_job.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "core/state/job_kind.hpp"

namespace tidepool::core {
namespace {

bool teaches(const Job& job) {
  const auto has_steps = [](const auto& entry) { return entry.second.steps > 0; };
  const auto tells = [&](const TypeRecords& records) {
    return std::any_of(records.sizes.begin(), records.sizes.end(), has_steps);
  };
  const auto& elsewhere = job.measurements.on_other_types;
  const bool measured = tells(job.measurements) || std::any_of(elsewhere.begin(), elsewhere.end(),
                                                               [&](const auto& entry) { return tells(entry.second); });
  return measured || job.state() == JobState::kSucceeded;
}

void count(EndedCounts& counts, JobState state) {
  switch (state) {
    case JobState::kSucceeded: ++counts.succeeded; return;
    case JobState::kFailed: ++counts.failed; return;
    default: ++counts.cancelled; return;
  }
}

std::map<std::string, std::map<int, SizeRecord>> sizes_elsewhere(const Job& job) {
  std::map<std::string, std::map<int, SizeRecord>> sizes;
  for (const auto& [type, records] : job.measurements.on_other_types) {
    if (!records.sizes.empty()) sizes.emplace(type, records.sizes);
  }
  return sizes;
}

// Removes those that ended first, down to the bound.
void forget_oldest(ClusterState& state, IdSet<JobId>& forgotten) {
  if (state.ended.size() < 2 * kEndedJobsRemembered) return;
  std::vector<std::pair<Instant, JobId>> order;
  for (const auto& [id, job] : state.ended) order.emplace_back(job->finished_at, id);
  const auto middle = order.end() - static_cast<std::ptrdiff_t>(kEndedJobsRemembered);
  std::nth_element(order.begin(), middle, order.end());
  for (auto each = order.begin(); each != middle; ++each) {
    state.ended.erase(each->second);
    forgotten.insert(each->second);
  }
}

}  // namespace

EndedCosts costs_of(const Measurements& measured) {
  const auto mean = [](const TransitionCost& cost) {
    return cost.count > 0 ? std::optional(cost.mean_stall_ms) : std::nullopt;
  };
  const BootCost& boot = measured.boot_cost;
  return {.boot_ms = boot.count > 0 ? std::optional(boot.mean_ms) : std::nullopt,
          .start_ms = mean(measured.start_cost),
          .grow_ms = mean(measured.grow_cost),
          .shrink_ms = mean(measured.shrink_cost),
          .replace_ms = mean(measured.replace_cost),
          .restart_ms = mean(measured.restart_cost)};
}

bool has_left(const Job& job) {
  return is_final(job.state()) && job.membership.workers.empty();
}

std::shared_ptr<const Job> take_out(ClusterState& state, JobId id, IdSet<JobId>& forgotten) {
  std::shared_ptr<const Job> job = state.jobs.at(id);
  TP_CHECK(has_left(*job) && job->phase.ended_at(), "only a job that nothing depends on leaves the state");
  state.jobs.erase(id);
  count(state.ended_counts, job->state());
  if (teaches(*job)) {
    state.ended.emplace(id, std::make_shared<const EndedJob>(EndedJob{.id = id,
                                                                      .state = job->state(),
                                                                      .finished_at = *job->phase.ended_at(),
                                                                      .slot_time = job->account.slot_time,
                                                                      .samples_done = job->progress.samples,
                                                                      .global_batch = job->spec.batch.global,
                                                                      .gpus_per_worker = job->spec.gpus_per_worker,
                                                                      .kind = kind_of(job->spec),
                                                                      .sizes = job->measurements.sizes,
                                                                      .slot_type = job->measurements.slot_type,
                                                                      .on_other_types = sizes_elsewhere(*job),
                                                                      .tenant = job->spec.tenant,
                                                                      .costs = costs_of(job->measurements)}));
    forget_oldest(state, forgotten);
  }
  return job;
}

}  // namespace tidepool::core
