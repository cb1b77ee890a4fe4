#include "schedctl/study_commands.hpp"

#include "schedctl/studies/sim_command.hpp"
#include "schedctl/studies/trace_files_command.hpp"

namespace tidepool::ctl {

void add_study_commands(CLI::App& app, Chosen& chosen) {
  add_sim_commands(app, chosen);
  add_trace_file_commands(app, chosen);
}

}  // namespace tidepool::ctl
