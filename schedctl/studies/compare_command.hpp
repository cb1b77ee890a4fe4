// `schedctl sim compare`: policies x workloads x seeds on all cores, one table, and files with the details.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

void add_compare_command(CLI::App& sim_group, Chosen& chosen);

}  // namespace tidepool::ctl
