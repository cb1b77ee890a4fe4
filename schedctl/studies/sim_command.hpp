// `schedctl sim run`: the daemon's own engine under a virtual clock, offline. Apart from the library, because
// only the program joins the command line with the simulator.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

void add_sim_commands(CLI::App& app, Chosen& chosen);

}  // namespace tidepool::ctl
