// `--simulator elasticflow`: the rules under which ElasticFlow's deadline ratios (Gu et al., ASPLOS 2023, figure 8)
// were made: decisions at events at least a slot of 60 s apart (slot_events.hpp), measured steps a second by number of
// workers, charges for each schedule, admission. A job that is declined or ends after its deadline has missed it.
// docs/fidelity.md says how close each figure is met.
#pragma once

#include "base/result.hpp"
#include "sim/sim_report.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

// Uses of the options: workload_csv (job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration),
// profile_files (model_name.csv: global_batch_size and steps a second on 1, 2, 4, ... slots), cluster, policy, round,
// limit, declared_work, keep_decisions, stopwatch_ns. Errors name the option, file or line.
[[nodiscard]] Result<SimReport> run_elasticflow(const SimOptions& options);

}  // namespace tidepool::sim
