// What the decision benchmarks share: their clock, their line, and the report of a job that trains as before.
#pragma once

#include <string>

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool {

// Time of this thread on a processor, so that what else the machine does stays out of the figures.
[[nodiscard]] double now_us();

// One JSON object: value and baseline in microseconds, and their ratio.
void print(const std::string& metric, double value, double baseline);

// Eight steps of 100 ms since its last report, all ranks alike.
[[nodiscard]] core::StepsMeasured report_of(const core::Job& job);

}  // namespace tidepool
