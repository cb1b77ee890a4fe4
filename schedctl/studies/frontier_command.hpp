// `schedctl sim frontier`: one workload under fixed pools, the threshold rule and the built-in rule, each with several
// settings; what nodes cost against how long jobs take.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

void add_frontier_command(CLI::App& sim_group, Chosen& chosen);

}  // namespace tidepool::ctl
