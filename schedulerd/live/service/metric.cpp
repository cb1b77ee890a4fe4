#include "schedulerd/live/service/metric.hpp"

namespace tidepool::live {

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
  for (std::size_t i = 0; i < steps.compute_us.size(); ++i) {
    point.compute_ms[i % ranks] += static_cast<double>(steps.compute_us[i]) * 1e-3 / count;
  }
  return point;
}

}  // namespace tidepool::live
