// A workload of Pollux's artifact as jobs of the live simulator: who arrives when and what each of them truly is, as it
// was measured (measured_program.hpp). Users declare nothing; a program tells what a real one tells: its length when it
// is ready, then steps, batch and gradient noise.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "sim/workload.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

struct MeasuredJobs {
  Workload workload;
  // As in pollux_run.hpp, so that fairness means the same: alone, at the declared batch.
  std::function<double(std::size_t row, double slots)> alone_seconds;
};

// Uses of the options: workload_csv, profiles, restart_penalty, switch_stall, undeclared_work, as_packed. What the jobs
// read of the profiles is kept by what is returned. Errors name the option, file or line.
[[nodiscard]] Result<MeasuredJobs> measured_jobs(const SimOptions& options, const ClusterShape& cluster);

}  // namespace tidepool::sim
