// `--simulator gavel`: the rules under which the figures of Gavel (Narayanan et al., OSDI 2020, published simulator)
// were made. Rounds of 360 s with leases (lease_rounds.hpp), measured steps a second by application, number of workers
// and slot type, no cost of moving, workers' places without effect. docs/fidelity.md says how close each figure is met.
#pragma once

#include "base/result.hpp"
#include "sim/sim_report.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

// Uses of the options: workload_csv (a Gavel trace: tab separated, without a header: job type, command, folder, steps
// argument, needs data, steps, workers, weight, SLO, arrival), profile_files (one JSON file: type -> "('job type',
// workers)" -> "null" -> steps a second), cluster ("8x1:v100,16x1:p100"; types named as in the profile), policy, round,
// limit, declared_work, keep_decisions, stopwatch_ns. Errors name the option, file or line.
[[nodiscard]] Result<SimReport> run_gavel(const SimOptions& options);

}  // namespace tidepool::sim
