#include "schedctl/studies/sim_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/number_text.hpp"
#include "policies/registry.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/studies/compare_command.hpp"
#include "schedctl/studies/file_text.hpp"
#include "schedctl/studies/frontier_command.hpp"
#include "schedctl/studies/sim_inputs.hpp"
#include "schedctl/studies/status_line.hpp"
#include "schedctl/studies/tenant_inputs.hpp"
#include "schedctl/text_table.hpp"
#include "studies/baselines/registry.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/rigid_workloads.hpp"

namespace tidepool::ctl {
namespace {

struct RunOptions {
  SimArguments sim;
  TenantsOptions tenants;
  std::string per_job_file;
  std::string decisions_file;
  std::string seed = "1";
  std::string forecast_every;
};

std::uint64_t seed_of(const std::string& text) {
  if (const auto seed = parse_number<std::uint64_t>(text)) return *seed;
  fail(kExitUsage, "--seed: \"" + text + "\" is no whole number; write one from 0, such as 7");
}

std::optional<Duration> forecast_every(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto every = parse_duration(text);
  if (!every.ok()) fail(kExitUsage, "--forecast: " + every.error().message);
  if (*every < Duration::seconds(1)) fail(kExitUsage, "--forecast: at least 1s");
  return *every;
}

int run_sim(const RunOptions& asked, const Settings& settings) {
  sim::SimOptions options = sim_options(asked.sim);
  options.seed = seed_of(asked.seed);
  options.forecast_every = forecast_every(asked.forecast_every);
  read_tenants(asked.tenants, asked.sim.given, options);
  require_generated(asked.sim, {options.workload});
  require_policy(options.policy, options.simulator, asked.sim.params);
  for (const std::string& file : {asked.per_job_file, asked.decisions_file}) require_writable(file);
  require_apart({asked.per_job_file, asked.decisions_file},
                {options.workload, options.policy, asked.sim.profiles, asked.tenants.file});
  options.keep_decisions = !asked.decisions_file.empty();
  read_workload(options);
  require_trace(asked.sim, std::span(&options, 1));
  StatusLine line;
  follow_run(options, line);
  const FinishedRun run = run_options(std::move(options), {.params = asked.sim.params});
  line.clear();
  print_notes(run.report.notes, run.report.score.workload);
  if (!asked.per_job_file.empty()) write_text_file(asked.per_job_file, run.report.per_job_csv);
  if (!asked.decisions_file.empty()) write_text_file(asked.decisions_file, run.report.decisions_jsonl);
  nlohmann::ordered_json score = sim::to_json(run.report.score);
  if (run.report.sharing) score["sharing"] = sim::to_json(*run.report.sharing);
  if (!run.report.forecasts_json.empty()) {
    score["forecasts"] = nlohmann::ordered_json::parse(run.report.forecasts_json);
  }
  write_out(settings.format == "yaml" ? to_yaml(nlohmann::json(score)) : score.dump() + "\n");
  if (!run.complaint.empty()) fail(kExitNegative, run.complaint);
  return kExitOk;
}

// What there is to simulate with: rules, policies, workloads.
nlohmann::ordered_json catalogue() {
  nlohmann::ordered_json all;
  const auto add = [](nlohmann::ordered_json& list, std::string_view name, std::string_view summary) -> auto& {
    return list.emplace_back(nlohmann::ordered_json{{"name", name}, {"summary", summary}});
  };
  for (const char* part : {"simulators", "policies", "workloads"}) all[part] = nlohmann::ordered_json::array();
  for (const auto& each : sim::kSimulators) add(all["simulators"], each.name, each.summary);
  for (const auto& preset : policies::kPolicies) {
    if (!is_replayed(preset)) add(all["policies"], preset.name, preset.summary)["simulator"] = "live";
  }
  for (const auto& preset : studies::all_presets()) {
    add(all["policies"], preset.name, preset.summary)["simulator"] = runs_live(preset) ? "live, replays" : "replays";
  }
  add(all["workloads"], "generated[:SEED]", "jobs drawn from a seed: --jobs, --interarrival");
  for (const auto& kind : sim::kRigidKinds) {
    add(all["workloads"], "rigid:" + std::string(kind.name) + "[:SEED]", kind.summary);
  }
  add(all["workloads"], "FILE.csv[.gz]",
      "a recorded trace (submit_s,gpus,duration_s and more, as schedctl trace import writes it), or "
      "name,time,application,...");
  for (const auto& format : sim::kTraceFormats) {
    add(all["workloads"], "import --from " + std::string(format.name), format.summary);
  }
  return all;
}

int list_all(const Settings& settings) {
  const nlohmann::ordered_json all = catalogue();
  if (settings.format != "table") {
    write_out(settings.format == "yaml" ? to_yaml(nlohmann::json(all)) : all.dump() + "\n");
    return kExitOk;
  }
  const Style style = output_style();
  std::string out;
  for (const auto& [title, rows] : all.items()) {
    const bool policies = title == "policies";
    std::vector<Column> columns{{.title = policies ? "POLICY" : title == "simulators" ? "SIMULATOR" : "WORKLOAD"}};
    if (policies) columns.push_back({.title = "FOR"});
    columns.push_back({.title = "WHAT", .wraps = true});
    TextTable table(std::move(columns));
    for (const auto& row : rows) {
      std::vector<std::string> cells{row.at("name").get<std::string>()};
      if (policies) cells.push_back(row.at("simulator").get<std::string>());
      cells.push_back(row.at("summary").get<std::string>());
      table.add(std::move(cells));
    }
    out += (out.empty() ? "" : "\n") + table.text(style);
  }
  write_out(out);
  return kExitOk;
}

}  // namespace

void add_sim_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("sim", "Try policies offline, under a virtual clock");
  group->require_subcommand(1);
  const auto asked = std::make_shared<RunOptions>();
  sim::SimOptions& options = asked->sim.options;
  CLI::App* run = group->add_subcommand("run", "Run a workload and print one JSON object; one seed, one digest");
  run->add_option("--workload", options.workload, "CSV file, generated[:SEED] or rigid:KIND[:SEED]")
      ->capture_default_str();
  add_policy_option(*run, asked->sim);
  run->add_option("--seed", asked->seed, "seed of all random numbers")->capture_default_str();
  add_sim_options(*run, asked->sim);
  add_tenant_options(*run, asked->tenants);
  run->add_option("--per-job", asked->per_job_file, "write a CSV row per job to this file");
  run->add_option("--decisions", asked->decisions_file, "write a JSON line per decision to this file");
  run->add_option("--forecast", asked->forecast_every,
                  "forecast all jobs at this interval, and report the errors (docs/forecast.md); for live");
  run->callback([asked, run, &chosen] {
    asked->sim.given = given_options(*run);
    chosen.offline = [asked](const Settings& settings) { return run_sim(*asked, settings); };
  });
  add_compare_command(*group, chosen);
  add_frontier_command(*group, chosen);
  group->add_subcommand("ls", "List simulators, policies and workloads")->callback([&chosen] {
    chosen.offline = list_all;
  });
}

}  // namespace tidepool::ctl
