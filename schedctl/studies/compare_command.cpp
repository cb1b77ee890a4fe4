#include "schedctl/studies/compare_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/studies/compare_report.hpp"
#include "schedctl/studies/comparison.hpp"
#include "schedctl/studies/file_text.hpp"
#include "schedctl/studies/interruption.hpp"
#include "schedctl/studies/run_pool.hpp"
#include "schedctl/studies/sim_inputs.hpp"
#include "schedctl/studies/status_line.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::size_t kRunsMax = 100'000;

struct CompareOptions {
  SimArguments sim;
  std::vector<std::string> policies;
  std::vector<std::string> workloads{"generated"};
  std::string seeds = "1";
  unsigned threads = 0;  // 0 = all cores
  std::string csv_file;
  std::string per_job_file;
  std::string html_file;
  std::string command;
};

void require_unique(const char* option, const std::vector<std::string>& words) {
  if (words.empty() || std::set<std::string>(words.begin(), words.end()).size() != words.size()) {
    fail(kExitUsage, std::string(option) + ": at least one, and each only once");
  }
}

// How far the runs are: a bar that is drawn over on a terminal, else a line per run.
class Progress {
 public:
  Progress(const Comparison& comparison, std::size_t count) : comparison_(comparison), count_(count) {}

  void ended(std::size_t piece) {
    ++done_;
    if (line_.is_shown()) return;
    const ComparedRun& run = comparison_.runs[piece];
    std::fprintf(stderr, "%zu of %zu: %s on %s, seed %llu: average %s\n", done_, count_, run.policy.c_str(),
                 run.workload.c_str(), static_cast<unsigned long long>(run.seed),
                 average_in_words(run.report.score).c_str());
  }
  void draw(std::size_t done) { line_.draw(progress_line(done, count_, line_.since_begin())); }
  void clear() { line_.clear(); }

 private:
  const Comparison& comparison_;
  std::size_t count_;
  std::size_t done_ = 0;
  StatusLine line_;
};

// The end of a path, with as many of its folders as tell it from the others.
std::string short_name(const std::string& path, const std::vector<std::string>& others) {
  std::filesystem::path left = path;
  std::filesystem::path name;
  const auto ends_alike = [&](const std::string& other) {
    const std::string tail = "/" + name.string();
    return other != path && ("/" + other).ends_with(tail);
  };
  do {
    name = name.empty() ? left.filename() : left.filename() / name;
    left = left.parent_path();
  } while (left.has_filename() && std::ranges::any_of(others, ends_alike));
  return name.string();
}

// The options of each workload, its file read once.
std::vector<sim::SimOptions> options_by_workload(const CompareOptions& asked, Comparison& comparison) {
  std::vector<sim::SimOptions> all;
  const sim::SimOptions common = sim_options(asked.sim);
  for (const std::string& workload : asked.workloads) {
    sim::SimOptions& options = all.emplace_back(common);
    options.workload = workload;
    read_workload(options);
    if (options.workload_csv) options.workload = short_name(workload, asked.workloads);
    comparison.workloads.push_back(options.workload);
  }
  require_unique("--workloads", comparison.workloads);
  require_trace(asked.sim, all);
  return all;
}

void run_one(ComparedRun& run, sim::SimOptions options, const std::vector<std::string>& params) {
  options.policy = run.policy;
  options.seed = run.seed;
  const std::string what = run.policy + " on " + run.workload + ", seed " + std::to_string(run.seed) + ": ";
  FinishedRun finished = run_options(std::move(options), {.what = what, .params = params});
  run.report = std::move(finished.report);
  run.complaint = std::move(finished.complaint);
}

void write_rows(const CompareOptions& asked, const Comparison& comparison) {
  if (!asked.csv_file.empty()) write_text_file(asked.csv_file, comparison_csv(comparison));
  if (!asked.per_job_file.empty()) write_text_file(asked.per_job_file, comparison_jobs_csv(comparison));
}

// Keeps the rows of the runs that have ended, and ends this program at once: the threads are amid runs of any length.
[[noreturn]] void stop_amid(const CompareOptions& asked, const Comparison& comparison, const std::vector<bool>& ended) {
  Comparison kept = comparison_of(comparison, ended);
  std::string files;
  for (const std::string& file : {asked.csv_file, asked.per_job_file}) {
    if (!file.empty()) files += (files.empty() ? "" : " and ") + file;
  }
  try {
    if (!kept.runs.empty()) write_rows(asked, kept);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "schedctl: %s\n", failure.message.c_str());
  }
  const std::string rows = kept.runs.empty() ? ""
                           : files.empty()   ? "; with --csv their rows would have been kept"
                                             : "; their rows are in " + files;
  std::fprintf(stderr, "schedctl: stopped: %zu of %zu runs had ended%s\n", kept.runs.size(), comparison.runs.size(),
               rows.c_str());
  std::fflush(nullptr);
  std::_Exit(kExitInterrupted);
}

Comparison compare(const CompareOptions& asked) {
  Comparison comparison{.policies = asked.policies,
                        .workloads = {},
                        .seeds = seeds_of(asked.seeds),
                        .simulator = asked.sim.options.simulator,
                        .cluster = asked.sim.options.cluster,
                        .command = asked.command,
                        .runs = {}};
  require_unique("--policies", comparison.policies);
  auto params = params_by_policy(comparison.policies, asked.sim.params);
  for (const std::string& policy : comparison.policies) {
    require_policy(policy, comparison.simulator, params[policy]);
  }
  require_generated(asked.sim, asked.workloads);
  const auto options = options_by_workload(asked, comparison);
  const std::size_t count = comparison.workloads.size() * comparison.policies.size() * comparison.seeds.size();
  if (count > kRunsMax) fail(kExitUsage, "these are " + std::to_string(count) + " runs; at most 100,000 in one call");
  std::vector<std::size_t> workload_of;
  for (std::size_t workload = 0; workload < comparison.workloads.size(); ++workload) {
    for (const std::string& policy : comparison.policies) {
      for (const std::uint64_t seed : comparison.seeds) {
        comparison.runs.push_back(
            {.policy = policy, .workload = comparison.workloads[workload], .seed = seed, .report = {}});
        workload_of.push_back(workload);
      }
    }
  }
  Progress progress(comparison, count);
  std::vector<bool> ended(count);
  const Interruption interruption;
  run_pool({.count = count,
            .threads = asked.threads > 0 ? asked.threads : std::max(1U, std::thread::hardware_concurrency()),
            .run =
                [&](std::size_t piece) {
                  ComparedRun& run = comparison.runs[piece];
                  run_one(run, options[workload_of[piece]], params.at(run.policy));
                },
            .on_done =
                [&](std::size_t piece) {
                  ended[piece] = true;
                  progress.ended(piece);
                },
            .on_tick =
                [&](std::size_t done) {
                  progress.draw(done);
                  if (!interruption.asked()) return;
                  progress.clear();
                  stop_amid(asked, comparison, ended);
                }});
  progress.clear();
  comparison.cluster = comparison.runs.front().report.score.cluster;  // with the nodes of pools
  return comparison;
}

int show(const CompareOptions& asked, const Settings& settings) {
  if (!asked.html_file.empty()) require_report_parts();
  const std::vector<std::string> written{asked.csv_file, asked.per_job_file, asked.html_file};
  for (const std::string& file : written) require_writable(file);
  std::vector<std::string> read{asked.sim.profiles};
  for (const auto* files : {&asked.workloads, &asked.policies}) read.insert(read.end(), files->begin(), files->end());
  require_apart(written, read);
  const Comparison comparison = compare(asked);
  write_rows(asked, comparison);
  if (!asked.html_file.empty()) write_text_file(asked.html_file, comparison_html(comparison));
  if (settings.format == "table") {
    write_out(comparison_text(comparison, output_style()));
  } else {
    const auto value = comparison_json(comparison);
    write_out(settings.format == "yaml" ? to_yaml(nlohmann::json(value)) : value.dump() + "\n");
  }
  // The table tells of it, and a script shall notice, too.
  const bool failed = std::ranges::any_of(comparison.runs, [](const auto& run) { return !run.complaint.empty(); });
  if (failed) std::fprintf(stderr, "schedctl: some runs cannot be judged; the lines above say which and why\n");
  return failed ? kExitNegative : kExitOk;
}

}  // namespace

void add_compare_command(CLI::App& sim_group, Chosen& chosen) {
  const auto asked = std::make_shared<CompareOptions>();
  CLI::App* command =
      sim_group.add_subcommand("compare", "Run policies over workloads and seeds on all cores, and compare them");
  command->add_option("--policies", asked->policies, "a,b,c: the others are compared with the first")
      ->delimiter(',')
      ->required();
  command->add_option("--workloads", asked->workloads, "files, generated, or generated:SEED")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seeds", asked->seeds, "1..5, or 1,2,7")->capture_default_str();
  add_sim_options(*command, asked->sim);
  command->add_option("--threads", asked->threads, "concurrent runs; by default one per core")
      ->check(CLI::Range(1U, 1'024U));
  command->add_option("--csv", asked->csv_file, "write a row per run to this file");
  command->add_option("--per-job", asked->per_job_file, "write a row per job and run to this file");
  command->add_option("--html", asked->html_file, "write a report with plots to this file");
  command->callback([asked, command, &chosen] {
    asked->command = command_line("schedctl sim compare", *command);
    asked->sim.given = given_options(*command);
    chosen.offline = [asked](const Settings& settings) { return show(*asked, settings); };
  });
}

}  // namespace tidepool::ctl
