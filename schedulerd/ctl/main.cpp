#include "schedulerd/ctl/app.hpp"
#include "schedulerd/ctl/sim_command.hpp"

int main(int argc, char** argv) {
  return tidepool::ctl::run(argc, argv, tidepool::ctl::add_sim_commands);
}
