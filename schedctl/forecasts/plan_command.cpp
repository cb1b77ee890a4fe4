// What a submission would bring, before it is made; and when all jobs are expected to start and end.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/forecast_words.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

// 1: as far as can be seen it is given no slots.
int plan(Session& session, const std::string& name) {
  const NamedFile file = read_job_file(name);
  const json planned = session.send({.method = "POST", .path = "/v1/plan", .body = file.document.dump()},
                                    {.file = file.shown, .lines = &file.lines, .entries = {}});
  session.print(planned, [&] { return plan_page(planned, name, session.style()); });
  const json& forecast = planned.at("forecast");
  const bool starts = !forecast.at("start").is_null() || !forecast.value("slots_at", json()).is_null();
  return starts ? kExitOk : kExitNegative;
}

}  // namespace

void add_plan_command(CLI::App& app, Chosen& chosen) {
  const auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "plan", "Forecast when a job would start and end, what it would cost and which jobs it would delay");
  command->add_option("file", *file, "job file, - for standard input")->required();
  command->callback([file, &chosen] { chosen.online = [file](Session& session) { return plan(session, *file); }; });
}

}  // namespace tidepool::ctl
