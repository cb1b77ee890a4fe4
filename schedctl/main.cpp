#include "schedctl/app.hpp"
#include "schedctl/policy_command.hpp"
#include "schedctl/policy_online.hpp"
#include "schedctl/study_commands.hpp"

int main(int argc, char** argv) {
  return tidepool::ctl::run(argc, argv, [](CLI::App& app, tidepool::ctl::Chosen& chosen) {
    tidepool::ctl::add_study_commands(app, chosen);
    tidepool::ctl::add_policy_file_commands(app, chosen);
    tidepool::ctl::add_policy_online_commands(app, chosen);
  });
}
