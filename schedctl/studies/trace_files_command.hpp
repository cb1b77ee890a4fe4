// `schedctl trace import|export|stats`: recorded workloads. They stand beside `schedctl trace JOB`, which draws one
// job.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

// Adds to the command `trace`, which must be there already.
void add_trace_file_commands(CLI::App& app, Chosen& chosen);

}  // namespace tidepool::ctl
