// Gavel's cluster of three types and its table of speeds, with one of its traces.
#pragma once

#include <filesystem>
#include <string>

#include "studies/sim_run.hpp"
#include "tests/sim/replay/published_data.hpp"

namespace tidepool::sim {

// `data`: the published folder.
inline SimOptions gavel_options(const std::filesystem::path& data, const std::string& trace) {
  SimOptions options{.workload = trace, .cluster = "8x1:v100,16x1:p100,24x1:k80", .simulator = "gavel"};
  options.workload_csv = test::read_file(data / "physical_cluster" / trace);
  options.profile_files["simulation_throughputs.json"] = test::read_file(data / "simulation_throughputs.json");
  return options;
}

}  // namespace tidepool::sim
