// `--simulator rigid`: jobs of a trace at the sizes they asked for, in rounds. A job that starts, moves or comes back
// holds its slots for 30 s without progress; else it makes a second of its duration a second. Every policy of the
// cluster table runs, all know the same: what each job holds and, where work is declared, how long it still takes.
#pragma once

#include "base/result.hpp"
#include "sim/sim_report.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

// Uses of the options: workload_csv (a trace) or workload (rigid:KIND[:SEED]), cluster, policy, round, restart_penalty,
// declared_work, keep_decisions, stopwatch_ns, on_progress. Deadlines of a trace are not kept. Errors name the option.
[[nodiscard]] Result<SimReport> run_rigid(const SimOptions& options);

}  // namespace tidepool::sim
