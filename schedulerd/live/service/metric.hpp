// The newest measurement of a job as readers see it: the API's metrics and the dashboard's charts.
#pragma once

#include "base/time.hpp"
#include "core/state/fact.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// `size` is that of the measured generation.
[[nodiscard]] MetricPoint metric_of(const core::StepsMeasured& steps, int size, Instant at);

}  // namespace tidepool::live
