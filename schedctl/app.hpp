// The command line of schedctl: the tree of commands, the options they share, and how a run ends.
#pragma once

#include <functional>

#include "schedctl/session.hpp"

namespace CLI {
class App;
}

namespace tidepool::ctl {

// The chosen command, run once the command line has been parsed. `online` talks to the daemon; `offline` needs none.
// Both return the exit code.
struct Chosen {
  std::function<int(Session&)> online;
  std::function<int(const Settings&)> offline;
};

using AddCommands = std::function<void(CLI::App& app, Chosen& chosen)>;

// Runs one command line. `extra` adds commands that only the program itself can link (sim).
[[nodiscard]] int run(int argc, const char* const* argv, const AddCommands& extra = {});

// The groups of commands, each in a file of its own.
void add_job_commands(CLI::App& app, Chosen& chosen);         // submit ls get why resize cancel suspend ...
void add_plan_command(CLI::App& app, Chosen& chosen);         // plan
void add_watch_command(CLI::App& app, Chosen& chosen);        // watch
void add_stream_commands(CLI::App& app, Chosen& chosen);      // events
void add_logs_command(CLI::App& app, Chosen& chosen);         // logs
void add_trace_command(CLI::App& app, Chosen& chosen);        // trace
void add_cluster_commands(CLI::App& app, Chosen& chosen);     // nodes drain cordon decisions policy token
void add_node_trust_commands(CLI::App& app, Chosen& chosen);  // node token, node revoke
void add_nodes_command(CLI::App& app, Chosen& chosen);
void add_pools_command(CLI::App& app, Chosen& chosen);
void add_maintenance_command(CLI::App& app, Chosen& chosen);
void add_price_commands(CLI::App& app, Chosen& chosen);   // prices
void add_tenant_commands(CLI::App& app, Chosen& chosen);  // tenants usage
void add_completion_command(CLI::App& app, Chosen& chosen);

// Exits at once and silently on Ctrl-C, for commands that only read.
void leave_on_interrupt();

}  // namespace tidepool::ctl
