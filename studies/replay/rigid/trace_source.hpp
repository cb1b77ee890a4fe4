// Where a run's trace comes from: the text of a file, or a drawn workload of jobs of a fixed size.
#pragma once

#include "base/result.hpp"
#include "studies/replay/sim_options.hpp"
#include "studies/traces/trace.hpp"

namespace tidepool::sim {

// "rigid:KIND" or "rigid:KIND:SEED", without a text.
[[nodiscard]] bool draws_rigid(const SimOptions& options);
// Whether the options name a trace at all: drawn, or a text that begins as one.
[[nodiscard]] bool gives_trace(const SimOptions& options);
[[nodiscard]] Result<Trace> trace_of(const SimOptions& options);

}  // namespace tidepool::sim
