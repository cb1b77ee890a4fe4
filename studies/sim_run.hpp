// `schedctl sim run` without its files and clocks: options in, report out. The same options give the same report,
// except for what the stopwatch measures.
#pragma once

#include "base/result.hpp"
#include "sim/sim_report.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

// Errors name the option and what it may be.
[[nodiscard]] Result<SimReport> run(const SimOptions& options);

}  // namespace tidepool::sim
