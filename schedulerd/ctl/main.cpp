#include "schedulerd/ctl/app.hpp"
#include "schedulerd/ctl/policy_command.hpp"
#include "schedulerd/ctl/policy_online.hpp"
#include "schedulerd/ctl/sim_command.hpp"
#include "schedulerd/ctl/trace_files_command.hpp"

int main(int argc, char** argv) {
  return tidepool::ctl::run(argc, argv, [](CLI::App& app, tidepool::ctl::Chosen& chosen) {
    tidepool::ctl::add_sim_commands(app, chosen);
    tidepool::ctl::add_policy_file_commands(app, chosen);
    tidepool::ctl::add_policy_online_commands(app, chosen);
    tidepool::ctl::add_trace_file_commands(app, chosen);
  });
}
