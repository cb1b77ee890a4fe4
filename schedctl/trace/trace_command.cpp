#include <CLI/CLI.hpp>

#include <memory>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/trace/trace.hpp"

namespace tidepool::ctl {
namespace {

constexpr const char* kPoints = "1000";  // of the measurements, evenly thinned by the daemon

int write_trace(Session& session, const std::string& name) {
  if (session.format() == OutputFormat::kYaml)
    fail(kExitUsage, "a trace is JSON, which its readers want; leave out -o");
  const std::string path = "/v1/jobs/" + session.job_id(name);
  const nlohmann::json trace =
      chrome_trace({.job = session.get(path),
                    .events = session.list(path + "/events").items,
                    .points = list_at(session.get(path + "/metrics?limit=" + kPoints), "/points")});
  write_out(trace.dump() + "\n");
  return kExitOk;
}

}  // namespace

void add_trace_command(CLI::App& app, Chosen& chosen) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("trace", "Print a job's timeline as a Chrome trace, for chrome://tracing or Perfetto");
  command->add_option("job", *job, "id or name");
  command->require_subcommand(0, 1);
  command->callback([job, command, &chosen] {
    if (!command->get_subcommands().empty()) return;  // import, stats, export: trace_files_command.cpp
    if (job->empty()) throw CLI::RequiredError("job");
    chosen.online = [job](Session& session) { return write_trace(session, *job); };
  });
}

}  // namespace tidepool::ctl
