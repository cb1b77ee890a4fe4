#include "schedulerd/ctl/sim_command.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "schedulerd/ctl/failure.hpp"
#include "schedulerd/ctl/job_file.hpp"
#include "schedulerd/ctl/policy_command.hpp"
#include "schedulerd/ctl/replayed_policy.hpp"
#include "schedulerd/sim/sim_run.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::uintmax_t kWorkloadBytesMax = 256U << 20U;

struct SimAsked {
  sim::SimOptions options;
  std::string interarrival = "60s";
  std::string profiles;
  std::string round;
  std::string restart_penalty;
  std::string switch_stall;
  std::string cooldown;
  std::string node_crash_every;
  std::string node_cut_off_every;
  std::string worker_death_every;
  std::string worker_slow_every;
  std::string per_job_file;
  std::string decisions_file;
};

std::optional<Duration> duration_of(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto duration = parse_duration(text);
  if (!duration.ok()) fail(kExitUsage, std::string(option) + ": " + duration.error().message);
  return *duration;
}

// A workload that is no built-in word is a file.
void read_workload(sim::SimOptions& options) {
  if (options.workload == "generated" || options.workload.starts_with("generated:")) return;
  const std::filesystem::path file = options.workload;
  std::error_code error;
  if (std::filesystem::file_size(file, error) > kWorkloadBytesMax && !error) {
    fail(kExitUsage, "the workload " + options.workload + " is larger than 256 MiB");
  }
  std::ifstream in(file, std::ios::binary);
  if (error || !in) {
    fail(kExitUsage,
         "the workload " + options.workload + " cannot be read; give a CSV file, or generated, or generated:SEED");
  }
  options.workload_csv.emplace(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  options.workload = file.filename().string();
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) fail(kExitUsage, file.string() + " cannot be read");
  return text;
}

// A folder per application, each with CSV files; anything else in them is left alone.
void read_profiles(const std::string& folder, sim::SimOptions& options) {
  if (folder.empty()) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_directory()) continue;
    sim::ApplicationFiles& files = options.profiles[entry.path().filename().string()];
    for (const auto& file : std::filesystem::directory_iterator(entry.path(), error)) {
      if (file.path().extension() == ".csv") files[file.path().filename().string()] = read_text(file.path());
    }
  }
  if (error) fail(kExitUsage, "the profiles " + folder + " cannot be read: " + error.message());
}

void write_file(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) fail(kExitUsage, file + " cannot be written; check its folder and the space left");
}

int run_sim(SimAsked asked, const Settings& settings) {
  sim::SimOptions& options = asked.options;
  options.generated_interarrival = *duration_of("--interarrival", asked.interarrival);
  options.restart_penalty = duration_of("--restart-penalty", asked.restart_penalty);
  options.switch_stall = duration_of("--switch-stall", asked.switch_stall);
  options.cooldown = duration_of("--cooldown", asked.cooldown);
  options.faults.node_crash_every = duration_of("--node-crash-every", asked.node_crash_every).value_or(Duration());
  options.faults.node_cut_off_every =
      duration_of("--node-cut-off-every", asked.node_cut_off_every).value_or(Duration());
  options.faults.worker_death_every =
      duration_of("--worker-death-every", asked.worker_death_every).value_or(Duration());
  options.faults.worker_slow_every = duration_of("--worker-slow-every", asked.worker_slow_every).value_or(Duration());
  options.keep_decisions = !asked.decisions_file.empty();
  options.stopwatch_ns = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  options.round = duration_of("--round", asked.round);
  read_workload(options);
  read_profiles(asked.profiles, options);
  std::optional<ReplayedPolicy> file;
  if (names_policy_file(options.policy)) {
    file.emplace(options.policy);
    options.policy_file = &file->policy();
    options.policy = file->name();
  }
  const auto report = sim::run(options);
  if (!report.ok()) {
    const bool bug = report.error().code == ErrorCode::kInternal;
    fail(bug ? kExitApi : kExitUsage, report.error().message);
  }
  write_file(asked.per_job_file, report->per_job_csv);
  write_file(asked.decisions_file, report->decisions_jsonl);
  const nlohmann::ordered_json score = sim::to_json(report->score);
  write_out(settings.format == "yaml" ? to_yaml(nlohmann::json(score)) : score.dump() + "\n");
  if (file && !file->complaint().empty()) fail(kExitNegative, file->complaint());
  return kExitOk;
}

}  // namespace

void add_sim_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("sim", "Try policies offline, under a virtual clock");
  group->require_subcommand(1);
  const auto asked = std::make_shared<SimAsked>();
  sim::SimOptions& options = asked->options;
  CLI::App* run = group->add_subcommand("run", "Run a workload and print one JSON object; one seed, one digest");
  run->add_option("--workload", options.workload, "CSV file, generated, or generated:SEED")->capture_default_str();
  run->add_option("--jobs", options.generated_jobs, "jobs of a generated workload")->capture_default_str();
  run->add_option("--interarrival", asked->interarrival, "mean time between them")->capture_default_str();
  run->add_option("--cluster", options.cluster, "nodes x slots")->capture_default_str();
  run->add_option("--policy", options.policy, "see: schedctl policy ls; or a policy file, for pollux")->capture_default_str();
  run->add_option("--semantics", options.semantics, "rules of the simulation: live, pollux")->capture_default_str();
  run->add_option("--profiles", asked->profiles, "folder of measured applications, for pollux");
  run->add_option("--round", asked->round, "between decisions, for pollux; 60s if not given");
  run->add_option("--seed", options.seed, "of everything that is drawn")->capture_default_str();
  run->add_flag("--declared-work", options.declared_work, "jobs declare their work, for pollux");
  run->add_option("--restart-penalty", asked->restart_penalty, "from a worker's start to its readiness");
  run->add_option("--switch-stall", asked->switch_stall, "of each change of size");
  run->add_option("--cooldown", asked->cooldown, "between changes of size of a job");
  run->add_option("--node-crash-every", asked->node_crash_every, "mean time between crashes of a node");
  run->add_option("--node-cut-off-every", asked->node_cut_off_every, "mean time between lost connections of a node");
  run->add_option("--worker-death-every", asked->worker_death_every, "mean time between deaths of a worker");
  run->add_option("--worker-slow-every", asked->worker_slow_every, "mean time between workers that become slow");
  run->add_option("--per-job", asked->per_job_file, "write a CSV row per job to this file");
  run->add_option("--decisions", asked->decisions_file, "write a JSON line per decision to this file");
  run->callback(
      [asked, &chosen] { chosen.offline = [asked](const Settings& settings) { return run_sim(*asked, settings); }; });
}

}  // namespace tidepool::ctl
