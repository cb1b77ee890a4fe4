// The commands that need the simulator and the published baselines (studies/): sim, trace import, export and stats. A
// build without studies has one command `sim` in their place, which says so.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

// Adds to the command `trace`, which must be there already, and adds the group `sim`.
void add_study_commands(CLI::App& app, Chosen& chosen);

}  // namespace tidepool::ctl
