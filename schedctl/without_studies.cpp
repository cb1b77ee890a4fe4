#include <CLI/CLI.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/study_commands.hpp"

namespace tidepool::ctl {
namespace {

int say_what_is_missing(const Settings&) {
  throw Failure{kExitUsage,
                "this schedctl was built without the simulator; configure with -DTIDEPOOL_STUDIES=ON and build "
                "the target schedctl again"};
}

}  // namespace

void add_study_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* sim = app.add_subcommand("sim", "Try policies offline (this schedctl was built without the simulator)");
  sim->prefix_command()->fallthrough(false);  // whatever follows
  sim->callback([&chosen] { chosen.offline = say_what_is_missing; });
}

}  // namespace tidepool::ctl
