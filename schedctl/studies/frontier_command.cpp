#include "schedctl/studies/frontier_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include <nlohmann/json.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/studies/compare_report.hpp"
#include "schedctl/studies/comparison.hpp"
#include "schedctl/studies/file_text.hpp"
#include "schedctl/studies/frontier.hpp"
#include "schedctl/studies/interruption.hpp"
#include "schedctl/studies/run_pool.hpp"
#include "schedctl/studies/sim_inputs.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::ctl {
namespace {

struct FrontierOptions {
  SimArguments sim;
  std::string seeds = "1";
  std::vector<int> fixed;
  std::vector<std::string> waits{"0s", "60s", "300s"};
  std::vector<std::string> idles{"60s", "300s", "900s", "3600s"};
  std::vector<double> worths{1.2, 1.5, 2, 3, 5};
  unsigned threads = 0;  // 0 = all cores
  std::string csv_file;
  std::string html_file;
  std::string command;
};

// One point before its runs: what its pool is, and by which rule nodes come and go.
struct Setting {
  FrontierPoint point;
  sim::PoolModel pool;
  std::string provision = "built-in";
};

std::vector<Duration> times_of(const char* option, const std::vector<std::string>& texts) {
  std::vector<Duration> times;
  for (const std::string& text : texts) {
    const auto time = parse_duration(text);
    if (!time.ok()) fail(kExitUsage, std::string(option) + ": " + time.error().message);
    times.push_back(*time);
  }
  return times;
}

std::vector<int> fixed_sizes(const FrontierOptions& asked, const sim::PoolModel& pool) {
  if (!asked.fixed.empty()) return asked.fixed;
  std::vector<int> sizes;
  for (const int part : {4, 3, 2, 1}) sizes.push_back(std::max(1, pool.spec.max / part));
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());  // a small pool has fewer parts
  return sizes;
}

// A pool of all its nodes from the beginning to the end.
Setting fixed_setting(sim::PoolModel pool, int nodes) {
  if (nodes < 1 || nodes > 10'000) fail(kExitUsage, "--fixed: a pool has 1 to 10000 nodes");
  pool.spec.min = pool.spec.max = nodes;
  return {.point = {.rule = kFixedRule, .setting = count_of(nodes, "node")}, .pool = pool};
}

std::vector<Setting> settings_of(const FrontierOptions& asked, const sim::PoolModel& pool) {
  std::vector<Setting> settings;
  for (const int nodes : fixed_sizes(asked, pool)) settings.push_back(fixed_setting(pool, nodes));
  const std::vector<Duration> idles = times_of("--idle", asked.idles);
  for (const Duration wait : times_of("--wait", asked.waits)) {
    for (const Duration idle : idles) {
      Setting& made = settings.emplace_back(Setting{.point = {.rule = kThresholdRule}, .pool = pool});
      made.pool.spec.idle = idle;
      made.provision = "threshold:" + to_text(wait);
      made.point.setting = "wait " + to_text(wait) + ", idle " + to_text(idle);
    }
  }
  for (const double worth : asked.worths) {
    if (!(worth >= 1 && worth <= 1'000)) fail(kExitUsage, "--worth: from 1 to 1000 times the price");
    for (const Duration idle : idles) {
      Setting& made = settings.emplace_back(Setting{.point = {.rule = kBuiltInRule}, .pool = pool});
      made.pool.spec.idle = idle;
      const double price = static_cast<double>(pool.spec.price_per_slot_hour.count_micros());
      made.pool.spec.worth_per_slot_hour = Money::micros(static_cast<std::int64_t>(price * worth));
      made.point.setting = "worth " + sim::short_text(worth) + ", idle " + to_text(idle);
    }
  }
  return settings;
}

FinishedRun run_setting(const FrontierOptions& asked, sim::SimOptions options, const Setting& setting,
                        std::uint64_t seed) {
  options.pools.pools = {setting.pool};
  options.provision = setting.provision;
  options.seed = seed;
  return run_options(std::move(options),
                     {.what = setting.point.rule + ", " + setting.point.setting + ": ", .params = asked.sim.params});
}

void add_mean(FrontierPoint& point, const FinishedRun& run, double part) {
  const sim::Scoreboard& score = run.report.score;
  point.avg_jct_s += part * score.avg_jct_s;
  point.p99_jct_s += part * score.p99_jct_s;
  point.avg_queue_s += part * score.avg_queue_s;
  point.node_hours += part * score.bill->node_hours;
  point.cost += part * score.bill->cost;
  point.completed += static_cast<double>(score.completed);
  if (point.complaint.empty()) point.complaint = run.complaint;
  if (point.complaint.empty() && score.completed < score.jobs) point.complaint = "not every job completed";
}

// The one pool whose settings are varied.
sim::PoolModel pool_of(const sim::SimOptions& options) {
  if (options.pools.pools.size() != 1) {
    fail(kExitUsage, "give one --pool, whose idle time and worth are varied, such as --pool slots=8,max=16,lead=3m");
  }
  return options.pools.pools.front();
}

std::string nodes_in_words(const SimArguments& asked) {
  const std::string fixed = asked.given.contains("--cluster") ? asked.options.cluster + " and " : "";
  return fixed + asked.pools.front();
}

Frontier measure(const FrontierOptions& asked) {
  sim::SimOptions options = sim_options(asked.sim);
  const sim::PoolModel pool = pool_of(options);
  require_policy(options.policy, options.simulator, asked.sim.params);
  require_generated(asked.sim, {options.workload});
  read_workload(options);
  require_trace(asked.sim, std::span(&options, 1));
  const std::vector<Setting> settings = settings_of(asked, pool);
  Frontier frontier{.workload = options.workload,
                    .policy = options.policy,
                    .cluster = nodes_in_words(asked.sim),
                    .seeds = seeds_of(asked.seeds),
                    .command = asked.command,
                    .points = {}};
  const std::size_t seeds = frontier.seeds.size();
  std::vector<FinishedRun> runs(settings.size() * seeds);
  const Interruption interruption;
  std::size_t done = 0;
  run_pool({.count = runs.size(),
            .threads = asked.threads > 0 ? asked.threads : std::max(1U, std::thread::hardware_concurrency()),
            .run =
                [&](std::size_t piece) {
                  runs[piece] = run_setting(asked, options, settings[piece / seeds], frontier.seeds[piece % seeds]);
                },
            .on_done =
                [&](std::size_t piece) {
                  const Setting& setting = settings[piece / seeds];
                  const sim::Scoreboard& score = runs[piece].report.score;
                  std::fprintf(stderr, "%zu of %zu: %s, %s: average %s, %s node hours\n", ++done, runs.size(),
                               setting.point.rule.c_str(), setting.point.setting.c_str(),
                               average_in_words(score).c_str(), whole(score.bill->node_hours).c_str());
                },
            .on_tick =
                [&](std::size_t) {
                  if (interruption.asked()) fail(kExitInterrupted, "stopped before all runs had ended");
                }});
  for (std::size_t i = 0; i < settings.size(); ++i) {
    FrontierPoint& point = frontier.points.emplace_back(settings[i].point);
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      add_mean(point, runs[i * seeds + seed], 1 / static_cast<double>(seeds));
    }
  }
  frontier.jobs = runs.front().report.score.jobs;
  print_notes(runs.front().report.notes, options.workload);
  return frontier;
}

int show_frontier(const FrontierOptions& asked, const Settings& settings) {
  if (!asked.html_file.empty()) require_report_parts();
  for (const std::string& file : {asked.csv_file, asked.html_file}) require_writable(file);
  require_apart({asked.csv_file, asked.html_file},
                {asked.sim.options.workload, asked.sim.options.policy, asked.sim.profiles});
  const Frontier frontier = measure(asked);
  if (!asked.csv_file.empty()) write_text_file(asked.csv_file, frontier_csv(frontier));
  if (!asked.html_file.empty()) write_text_file(asked.html_file, frontier_html(frontier));
  if (settings.format == "table") {
    write_out(frontier_text(frontier, output_style()));
  } else {
    const auto value = frontier_json(frontier);
    write_out(settings.format == "yaml" ? to_yaml(nlohmann::json(value)) : value.dump() + "\n");
  }
  const bool failed = std::ranges::any_of(frontier.points, [](const auto& any) { return !any.complaint.empty(); });
  return failed ? kExitNegative : kExitOk;
}

}  // namespace

void add_frontier_command(CLI::App& sim_group, Chosen& chosen) {
  const auto asked = std::make_shared<FrontierOptions>();
  CLI::App* command = sim_group.add_subcommand(
      "frontier", "Run a workload under several rules for creating nodes: node hours against completion time");
  command->add_option("--workload", asked->sim.options.workload, "CSV file, generated[:SEED] or rigid:KIND[:SEED]")
      ->capture_default_str();
  add_policy_option(*command, asked->sim);
  command->add_option("--seeds", asked->seeds, "1..5, or 1,2,7")->capture_default_str();
  add_sim_options(*command, asked->sim);
  command->add_option("--fixed", asked->fixed, "sizes of fixed pools; by default parts of the pool's max")
      ->delimiter(',');
  command->add_option("--wait", asked->waits, "of the threshold rule: how long a job waits first")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--idle", asked->idles, "of both rules: how long a node is idle before it is given back")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--worth", asked->worths, "of the built-in rule: worth of a slot, in prices")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--threads", asked->threads, "concurrent runs; by default one per core")
      ->check(CLI::Range(1U, 1'024U));
  command->add_option("--csv", asked->csv_file, "write a row per setting to this file");
  command->add_option("--html", asked->html_file, "write a report with a plot to this file");
  command->callback([asked, command, &chosen] {
    asked->command = command_line("schedctl sim frontier", *command);
    asked->sim.given = given_options(*command);
    if (asked->sim.given.contains("--provision")) {
      fail(kExitUsage, "--provision: a frontier has the rules built-in and threshold; --wait sets the latter");
    }
    chosen.offline = [asked](const Settings& settings) { return show_frontier(*asked, settings); };
  });
}

}  // namespace tidepool::ctl
