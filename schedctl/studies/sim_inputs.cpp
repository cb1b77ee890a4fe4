#include "schedctl/studies/sim_inputs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "base/number_text.hpp"
#include "base/word_list.hpp"
#include "policies/registry.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/policy_command.hpp"
#include "schedctl/studies/file_text.hpp"
#include "schedctl/studies/replayed_policy.hpp"
#include "studies/baselines/registry.hpp"
#include "studies/baselines/threshold_nodes.hpp"
#include "studies/replay/pool_text.hpp"
#include "studies/replay/rigid/trace_source.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::size_t kSeedsMax = 1'000;

std::optional<Duration> duration_of(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto duration = parse_duration(text);
  if (!duration.ok()) fail(kExitUsage, std::string(option) + ": " + duration.error().message);
  return *duration;
}

double number_of(const char* option, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (value && *value >= 0 && *value <= 1e6) return *value;
  fail(kExitUsage, std::string(option) + ": \"" + std::string(text) + "\" is no number from 0 to 1000000");
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

void read_curve(const std::string& text, sim::SimOptions& options) {
  if (text.empty()) return;
  const auto parts = parts_of(text);
  if (parts.size() != 2) fail(kExitUsage, "--curve: write SIGMA,KAPPA, such as 0.05,0.0005");
  options.sigma = number_of("--curve", parts[0]);
  options.kappa = number_of("--curve", parts[1]);
}

void read_type_speeds(const std::string& text, sim::SimOptions& options) {
  for (const std::string_view part : parts_of(text)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) fail(kExitUsage, "--type-speed: write TYPE=SPEED, such as v100=1,p100=0.6");
    const std::string type(part.substr(0, equals));
    if (!options.type_speeds.emplace(type, number_of("--type-speed", part.substr(equals + 1))).second) {
      fail(kExitUsage, "--type-speed: the type " + type + " is given twice");
    }
  }
}

// Under which rules an option does something; those not named here do under all. Elsewhere it is refused, since the
// figures would not depend on it.
struct OptionRules {
  const char* option;
  std::string_view simulators;  // apart by ", "
};
constexpr std::string_view kRounds = "elasticflow, gavel, pollux, rigid";
constexpr std::array kOptionRules{
    OptionRules{"--profiles", "elasticflow, gavel, live, pollux"},
    OptionRules{"--as-packed", "live"},
    OptionRules{"--round", kRounds},
    OptionRules{"--declared-work", kRounds},
    OptionRules{"--undeclared-work", "live"},
    OptionRules{"--no-kind-prior", "pollux"},
    OptionRules{"--kin-by-pace", "pollux"},
    OptionRules{"--interference", "pollux"},
    OptionRules{"--restart-penalty", "live, pollux, rigid"},
    OptionRules{"--switch-stall", "live"},
    OptionRules{"--forecast", "live"},
    OptionRules{"--tenants", "live"},
    OptionRules{"--split", "live"},
    OptionRules{"--deal", "live"},
    OptionRules{"--alone", "live"},
    OptionRules{"--cooldown", "live"},
    OptionRules{"--elastic-max", "live"},
    OptionRules{"--curve", "live"},
    OptionRules{"--type-speed", "live"},
    OptionRules{"--node-crash-every", "live"},
    OptionRules{"--node-cut-off-every", "live"},
    OptionRules{"--node-outage", "live"},
    OptionRules{"--spot-reclaim-every", "live"},
    OptionRules{"--spot-notice", "live"},
    OptionRules{"--worker-death-every", "live"},
    OptionRules{"--worker-slow-every", "live"},
    OptionRules{"--pool", "live"},
    OptionRules{"--provision", "live"},
    OptionRules{"--spot-share", "live"},
};

// What an option does nothing without: one of these.
struct OptionNeeds {
  const char* option;
  std::array<const char*, 3> any_of;  // null = no more
};
constexpr std::array kOptionNeeds{
    OptionNeeds{"--as-packed", {"--profiles"}},
    OptionNeeds{"--spot-notice", {"--spot-reclaim-every"}},
    OptionNeeds{"--node-outage", {"--node-crash-every", "--node-cut-off-every", "--spot-reclaim-every"}},
};

void require_needs(const SimArguments& asked) {
  for (const OptionNeeds& needs : kOptionNeeds) {
    std::vector<std::string> any_of;
    for (const char* other : needs.any_of) {
      if (other != nullptr) any_of.emplace_back(other);
    }
    const bool has_one = std::ranges::any_of(any_of, [&](const auto& other) { return asked.given.contains(other); });
    if (!asked.given.contains(needs.option) || has_one) continue;
    fail(kExitUsage, std::string(needs.option) + " does nothing by itself; give " +
                         (any_of.size() == 1 ? "" : "one of ") + word_list(any_of) + ", or leave it out");
  }
}

void require_rules(const SimArguments& asked) {
  const std::string& simulator = asked.options.simulator;
  const bool known = std::ranges::any_of(sim::kSimulators, [&](const auto& each) { return each.name == simulator; });
  if (!known) return;  // the run says which there are
  for (const OptionRules& rules : kOptionRules) {
    if (!asked.given.contains(rules.option) || rules.simulators.find(simulator) != std::string_view::npos) continue;
    fail(kExitUsage, std::string(rules.option) + " does nothing under --simulator " + simulator +
                         "; leave it out, or choose rules that know it: " + std::string(rules.simulators));
  }
  if (asked.given.contains("--curve") && asked.options.elastic_max == 0) {
    fail(kExitUsage,
         "--curve says how jobs of a recorded trace speed up; give --elastic-max, without it they are rigid");
  }
  require_needs(asked);
}

// Without --cluster there are the nodes of pools alone.
void read_pools(const SimArguments& asked, sim::SimOptions& options) {
  for (const std::string& text : asked.pools) {
    auto pool = sim::parse_pool(text);
    if (!pool) fail(kExitUsage, pool.error().message);
    options.pools.pools.push_back(*std::move(pool));
  }
  const bool any_steady = std::any_of(options.pools.pools.begin(), options.pools.pools.end(),
                                      [](const sim::PoolModel& pool) { return !pool.spec.spot; });
  if (!asked.pools.empty() && !any_steady && options.pools.spot_share < 1) {
    fail(kExitUsage,
         "--spot-share below 1 keeps all nodes of these pools back, which are spot; leave it out, or give a --pool "
         "that is not spot, too");
  }
  const auto rule = studies::provision_rule_of(options.provision);
  if (!rule) fail(kExitUsage, "--provision: " + rule.error().message);
  if (!asked.pools.empty()) {
    if (!asked.given.contains("--cluster")) options.cluster.clear();
    return;
  }
  for (const char* option : {"--provision", "--spot-share"}) {
    if (asked.given.contains(option)) fail(kExitUsage, std::string(option) + " is of nodes of pools; give a --pool");
  }
}

// One file, or a folder: files that lie in it directly, and a folder per application with CSV files; anything else in
// it is left alone.
void read_profiles(const std::string& given, sim::SimOptions& options) {
  if (given.empty()) return;
  const std::filesystem::path path = given;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    options.profile_files[path.filename().string()] = read_text_file(given);
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".csv") options.profile_files[name] = read_text_file(entry.path().string());
    if (!entry.is_directory()) continue;
    sim::ApplicationFiles& files = options.profiles[name];
    for (const auto& file : std::filesystem::directory_iterator(entry.path(), error)) {
      if (file.path().extension() != ".csv") continue;
      files[file.path().filename().string()] = read_text_file(file.path().string());
    }
  }
  if (error) fail(kExitUsage, "the profiles " + given + " cannot be read: " + error.message());
}

bool is_generated(const std::string& workload) {
  return workload == "generated" || workload.starts_with("generated:");
}

void read_faults(const SimArguments& asked, sim::FaultMix& faults) {
  const auto every = [](const char* option, const std::string& text) {
    const auto mean = duration_of(option, text);
    if (mean && *mean < Duration::seconds(1)) {
      fail(kExitUsage, std::string(option) + ": the mean time between faults is at least 1s; leave it out for none");
    }
    return mean.value_or(Duration());
  };
  faults.node_crash_every = every("--node-crash-every", asked.node_crash_every);
  faults.node_cut_off_every = every("--node-cut-off-every", asked.node_cut_off_every);
  faults.node_reclaim_every = every("--spot-reclaim-every", asked.spot_reclaim_every);
  faults.worker_death_every = every("--worker-death-every", asked.worker_death_every);
  faults.worker_slow_every = every("--worker-slow-every", asked.worker_slow_every);
  if (const auto outage = duration_of("--node-outage", asked.node_outage)) faults.mean_node_outage = *outage;
  if (const auto notice = duration_of("--spot-notice", asked.spot_notice)) faults.reclaim_notice = *notice;
}

std::uint64_t listed_seed(std::string_view text) {
  if (const auto seed = parse_number<std::uint64_t>(text)) return *seed;
  fail(kExitUsage, "--seeds: \"" + std::string(text) + "\" is no whole number; write 1..5, or 1,2,7");
}

// What was given to each option, in the order of the options.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_name() == "--help") continue;
    if (option->get_expected_min() == 0) {  // a flag
      words.push_back(option->get_name());
      continue;
    }
    std::string values;
    for (const std::string& value : option->results()) {
      // Values of an option that is repeated may hold commas of their own.
      if (option->get_delimiter() != ',') {
        words.insert(words.end(), {option->get_name(), value});
      } else {
        values += (values.empty() ? "" : ",") + value;
      }
    }
    if (!values.empty()) words.insert(words.end(), {option->get_name(), values});
  }
  return words;
}

// A path, or a folder that lies here and is not called as a policy that is known.
bool is_policy_file(const std::string& policy) {
  if (names_policy_file(policy)) return true;
  std::error_code failed;
  return !studies::find_preset(policy) && !studies::make_policies(policy) &&
         std::filesystem::is_directory(policy, failed);
}

void add_fault_options(CLI::App& command, SimArguments& asked) {
  command.add_option("--node-crash-every", asked.node_crash_every, "mean time between crashes of a node");
  command.add_option("--node-cut-off-every", asked.node_cut_off_every, "mean time between lost connections of a node");
  command.add_option("--node-outage", asked.node_outage, "mean time until a node is back (5m)");
  command.add_option("--spot-reclaim-every", asked.spot_reclaim_every, "mean time between reclaims of nodes");
  command.add_option("--spot-notice", asked.spot_notice, "how long before a reclaim the notice comes (2m)");
  command.add_option("--worker-death-every", asked.worker_death_every, "mean time between deaths of a worker");
  command.add_option("--worker-slow-every", asked.worker_slow_every, "mean time between workers that become slow");
}

}  // namespace

void add_policy_option(CLI::App& command, SimArguments& asked) {
  command.add_option("--policy", asked.options.policy, "see: schedctl sim ls; or a policy file, or its folder")
      ->capture_default_str();
}

void add_sim_options(CLI::App& command, SimArguments& asked) {
  sim::SimOptions& options = asked.options;
  command.add_option("--param", asked.params, "NAME=VALUE of a parameter of a policy file, repeatable")
      ->allow_extra_args(false);
  command.add_option("--jobs", options.generated_jobs, "jobs of a generated workload")->capture_default_str();
  command.add_option("--interarrival", asked.interarrival, "mean time between them")->capture_default_str();
  command.add_option("--cluster", options.cluster, "nodes x slots, by type if they differ: 8x4:v100,16x4:p100")
      ->capture_default_str();
  command.add_option("--simulator", options.simulator, "whose rules; see: schedctl sim ls")->capture_default_str();
  command.add_option("--semantics", options.simulator)->group("");  // as it was called before
  command.add_option("--profiles", asked.profiles, "measured speeds: a folder, or a JSON file for gavel");
  command.add_option("--round", asked.round, "time between decisions (60s; for gavel 360s)");
  command.add_option("--until", asked.until, "simulated time at which a run ends (90d)");
  command.add_flag("--declared-work", options.declared_work, "jobs declare their work, for replays");
  command.add_flag("--undeclared-work", options.undeclared_work, "jobs do not declare their work, for live");
  command.add_flag("!--no-kind-prior", options.kind_prior, "expect nothing of a job from other jobs, for pollux");
  command.add_flag("--kin-by-pace", options.kin_by_pace,
                   "treat jobs of similar speed on one GPU as one kind, whatever their application, for pollux");
  command
      .add_option("--interference", options.interference,
                  "share of speed that a job on several nodes loses next to another such job, for pollux")
      ->check(CLI::Range(0.0, 0.99));
  command.add_flag("--as-packed", options.as_packed,
                   "with --profiles: jobs run as fast as if their workers were on as few nodes as possible, for live");
  command.add_option("--restart-penalty", asked.restart_penalty, "time from a worker's start until it is ready");
  command.add_option("--switch-stall", asked.switch_stall, "pause of each change of size");
  command.add_option("--cooldown", asked.cooldown, "shortest time between changes of size of a job");
  command
      .add_option("--elastic-max", options.elastic_max,
                  "jobs of a recorded trace may grow to this many GPUs; 0 = rigid")
      ->check(CLI::Range(0, 4'096));
  command.add_option("--curve", asked.curve, "SIGMA,KAPPA of their speed-up curve (0.05,0.0005)");
  command.add_option("--type-speed", asked.type_speeds, "how fast slots of a type compute: v100=1,p100=0.6");
  command
      .add_option("--pool", asked.pools, "nodes that come and go: slots=8,max=16,lead=3m (docs/providers.md); repeat")
      ->allow_extra_args(false);
  command.add_option("--provision", options.provision, "rule for creating nodes: built-in, or threshold:60s")
      ->capture_default_str();
  command.add_option("--spot-share", options.pools.spot_share, "of all nodes of pools, at most this share is spot")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_fault_options(command, asked);
}

std::set<std::string> given_options(const CLI::App& command) {
  std::set<std::string> given;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) given.insert(option->get_name());
  }
  return given;
}

std::vector<std::uint64_t> seeds_of(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dots = part.find("..");
    const std::uint64_t first = listed_seed(part.substr(0, dots));
    const std::uint64_t last = dots == std::string_view::npos ? first : listed_seed(part.substr(dots + 2));
    if (last < first || last - first >= kSeedsMax) fail(kExitUsage, "--seeds: write 1..5, at most 1,000 of them");
    for (std::uint64_t i = 0; i <= last - first; ++i) seeds.push_back(first + i);  // last may be the largest number
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  if (std::set<std::uint64_t>(seeds.begin(), seeds.end()).size() != seeds.size() || seeds.size() > kSeedsMax) {
    fail(kExitUsage, "--seeds: each seed once, at most 1,000 of them");
  }
  return seeds;
}

std::string command_line(const std::string& name, const CLI::App& command) {
  std::string line = name;
  for (const std::string& word : words_of(command)) {
    const bool plain = word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "_-./,:=+@%") == std::string::npos;
    line += plain && !word.empty() ? " " + word : " '" + word + "'";
  }
  return line;
}

sim::SimOptions sim_options(SimArguments asked) {
  require_rules(asked);
  sim::SimOptions& options = asked.options;
  options.generated_interarrival = duration_of("--interarrival", asked.interarrival).value_or(Duration());
  options.restart_penalty = duration_of("--restart-penalty", asked.restart_penalty);
  options.switch_stall = duration_of("--switch-stall", asked.switch_stall);
  options.cooldown = duration_of("--cooldown", asked.cooldown);
  options.round = duration_of("--round", asked.round);
  options.until = duration_of("--until", asked.until);
  if (options.until && *options.until < Duration::seconds(1)) fail(kExitUsage, "--until: at least 1s");
  read_faults(asked, options.faults);
  read_curve(asked.curve, options);
  read_type_speeds(asked.type_speeds, options);
  read_pools(asked, options);
  read_profiles(asked.profiles, options);
  const bool is_measured = options.simulator == "live" && asked.given.contains("--profiles");
  if (is_measured && options.profiles.empty()) {
    fail(kExitUsage, "the profiles " + asked.profiles + " hold no folder of an application with its CSV files");
  }
  options.stopwatch_ns = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  return options;
}

void require_policy(const std::string& policy, const std::string& simulator, const std::vector<std::string>& params) {
  if (is_policy_file(policy)) {
    const policies::host::PolicyFile file = open_policy(policy);
    (void)chosen_params(file, policy, params_of(params));
    return require_sound(file, policy);
  }
  if (!params.empty()) {
    fail(kExitUsage,
         "--param is of a policy file, and " + policy + " is built in: leave it out, or give --policy FILE");
  }
  const auto in_replays = studies::find_preset(policy);
  if (simulator != "live") {
    if (!in_replays) fail(kExitUsage, in_replays.error().message);
    return;
  }
  const auto live = studies::make_policies(policy);
  if (live) return;
  if (in_replays) {
    fail(kExitUsage,
         "the policy " + policy +
             " is told true speeds, which only replays know: give --simulator pollux, elasticflow or gavel");
  }
  fail(kExitUsage, live.error().message);
}

std::map<std::string, std::vector<std::string>> params_by_policy(const std::vector<std::string>& policies,
                                                                 const std::vector<std::string>& params) {
  std::map<std::string, std::vector<std::string>> by_policy;
  if (params.empty()) return by_policy;
  std::map<std::string, policies::host::Manifest> files;
  for (const std::string& policy : policies) {
    if (is_policy_file(policy)) files.emplace(policy, open_policy(policy).manifest);
  }
  if (files.empty()) fail(kExitUsage, "--param is of a policy file, and --policies names none: leave it out");
  for (const std::string& param : params) {
    const std::string name = param.substr(0, param.find('='));
    const auto has_it = [&](const auto& file) {
      return std::ranges::any_of(file.second.params, [&](const auto& rule) { return rule.param.name == name; });
    };
    const bool is_known = std::ranges::any_of(files, has_it);
    for (const auto& file : files) {
      if (!is_known || has_it(file)) by_policy[file.first].push_back(param);
    }
  }
  return by_policy;
}

FinishedRun run_options(sim::SimOptions options, const RunTerms& terms) {
  std::optional<ReplayedPolicy> file;
  if (is_policy_file(options.policy)) {
    file.emplace(options.policy, params_of(terms.params));
    options.policy_file = &file->policy();
    options.file_in_charge = file->in_charge();
    options.policy = file->name();
  }
  auto report = sim::run(options);
  if (!report) {
    const bool bug = report.error().code == ErrorCode::kInternal;
    fail(bug ? kExitInternal : kExitUsage, terms.what + report.error().message);
  }
  std::string complaint = file ? file->complaint() : "";
  if (complaint.empty()) complaint = report->trouble;
  return {.report = *std::move(report), .complaint = std::move(complaint)};
}

void print_notes(const std::vector<std::string>& notes, const std::string& workload) {
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s: %s\n", workload.c_str(), note.c_str());
}

void require_generated(const SimArguments& asked, const std::vector<std::string>& workloads) {
  if (std::ranges::any_of(workloads, is_generated)) return;
  for (const char* option : {"--jobs", "--interarrival"}) {
    if (!asked.given.contains(option)) continue;
    fail(kExitUsage,
         std::string(option) + " is of a generated workload; " + workloads.front() + " has jobs of its own");
  }
}

void require_trace(const SimArguments& asked, std::span<const sim::SimOptions> workloads) {
  if (asked.options.elastic_max == 0) return;
  const auto heeds = [](const sim::SimOptions& each) { return each.profiles.empty() && sim::gives_trace(each); };
  if (std::ranges::any_of(workloads, heeds)) return;
  fail(kExitUsage, "--elastic-max is for jobs of a recorded trace; those of " + workloads.front().workload +
                       " have sizes of their own: leave it out, or give a workload in the form of schedctl trace "
                       "import, or rigid:KIND, without --profiles");
}

void read_workload(sim::SimOptions& options) {
  if (is_generated(options.workload) || sim::draws_rigid(options)) return;
  std::error_code error;
  if (!std::filesystem::exists(options.workload, error)) {
    fail(kExitUsage, "the workload " + options.workload +
                         " cannot be read; give a CSV file, generated[:SEED] or rigid:KIND[:SEED]");
  }
  options.workload_csv = read_text_file(options.workload);
  options.workload = std::filesystem::path(options.workload).filename().string();
}

}  // namespace tidepool::ctl
