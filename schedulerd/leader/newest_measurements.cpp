#include "schedulerd/leader/newest_measurements.hpp"

#include <utility>
#include <vector>

namespace tidepool::leader {

MetricPoint metric_of(const core::StepsMeasured& steps, int size, Instant at) {
  const double elapsed_s = steps.elapsed.to_seconds();
  const auto count = static_cast<double>(steps.steps);
  MetricPoint point{.at = at,
                    .step = steps.last_step,
                    .size = size,
                    .generation = steps.generation,
                    .samples_per_second = static_cast<double>(steps.samples) / elapsed_s,
                    .step_ms = elapsed_s * 1e3 / count,
                    .loss = steps.loss,
                    .global_batch = steps.global_batch,
                    .noise_scale = steps.noise_scale};
  const auto ranks = steps.compute_us.size() / static_cast<std::size_t>(steps.steps);
  point.compute_ms.assign(ranks, 0);
  for (std::size_t i = 0; ranks > 0 && i < steps.compute_us.size(); ++i) {
    point.compute_ms[i % ranks] += static_cast<double>(steps.compute_us[i]) * 1e-3 / count;
  }
  return point;
}

std::optional<MetricRow> NewestMeasurements::add(const core::StepsMeasured& steps, const core::ClusterState& state,
                                                 Instant now) {
  const core::Job* known = state.find_job(steps.job);
  if (known == nullptr) return std::nullopt;
  const core::Job& job = *known;
  const auto ranks = static_cast<int>(steps.compute_us.size() / static_cast<std::size_t>(steps.steps));
  MetricPoint point = metric_of(steps, ranks > 0 ? ranks : job.size(), now);
  // A report may come after its job's end; nothing would take its measurement out again.
  if (!core::is_final(job.state())) jobs_[job.id] = {point.samples_per_second, point.step_ms};
  if (steps.generation == job.membership.generation && point.compute_ms.size() == job.membership.members.size()) {
    for (std::size_t rank = 0; rank < job.membership.members.size(); ++rank) {
      // One that has ended stands here until the next switch; nothing would take its measurement out again.
      const WorkerId member = job.membership.members[rank];
      if (state.find_worker(member) != nullptr) compute_ms_[member] = point.compute_ms[rank];
    }
  }
  return MetricRow{job.id, std::move(point)};
}

void NewestMeasurements::forget_lost(const core::ClusterState& state) {
  if (lost_.empty()) return;
  std::vector<WorkerId> gone;
  for (const auto& [id, compute_ms] : compute_ms_) {
    const core::Worker* worker = state.find_worker(id);
    if (worker == nullptr || lost_.contains(worker->node)) gone.push_back(id);
  }
  for (const WorkerId id : gone) compute_ms_.erase(id);
  lost_.clear();
}

}  // namespace tidepool::leader
