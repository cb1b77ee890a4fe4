// `--simulator pollux`: the rules under which the tables of Pollux (Qiao et al., OSDI 2021, artifact) were made. Rounds
// of 60 s, 30 s without progress after each change of placement, measured profiles of six applications, no
// interference. docs/fidelity.md says how close each published figure is met.
#pragma once

#include "base/result.hpp"
#include "sim/sim_report.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

// Uses of the options: workload_csv (name,time,application,num_replicas,batch_size), profiles, cluster, policy (one of
// studies/baselines/registry.hpp), round, restart_penalty, limit, keep_decisions, stopwatch_ns. Errors name the option,
// file or line.
[[nodiscard]] Result<SimReport> run_pollux(const SimOptions& options);

}  // namespace tidepool::sim
