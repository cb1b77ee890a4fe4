// What `sim run` and `sim compare` are asked on the command line, and how it becomes the options of a run: durations
// parsed, files read. Throws Failure with a sentence for whatever is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/sim_run.hpp"

namespace CLI {
class App;
}

namespace tidepool::ctl {

struct SimArguments {
  sim::SimOptions options;
  std::string interarrival = "60s";
  std::string profiles;
  std::string round;
  std::string until;
  std::string restart_penalty;
  std::string switch_stall;
  std::string cooldown;
  std::string node_crash_every;
  std::string node_cut_off_every;
  std::string node_outage;
  std::string spot_reclaim_every;
  std::string spot_notice;
  std::string worker_death_every;
  std::string worker_slow_every;
  std::string curve;        // "SIGMA,KAPPA"
  std::string type_speeds;  // "v100=1,p100=0.6"
  std::vector<std::string> pools;
  std::vector<std::string> params;  // NAME=VALUE of the policy files that are asked for
  std::set<std::string> given;      // options that were on the command line, such as --round
};

// The one policy of a command.
void add_policy_option(CLI::App& command, SimArguments& asked);

// Everything but policies, --workload and --seed, which the commands ask for in their own ways.
void add_sim_options(CLI::App& command, SimArguments& asked);

// What stood on the command line, once it has been parsed.
[[nodiscard]] std::set<std::string> given_options(const CLI::App& command);

// The command line as it was, to be repeated; words with other letters than plain ones in quotes.
[[nodiscard]] std::string command_line(const std::string& name, const CLI::App& command);

// "1..5", "3", "1,2,7..9": ascending and each once, in the order given.
[[nodiscard]] std::vector<std::uint64_t> seeds_of(std::string_view text);

// The options with profiles and durations; the workload stays a name. An option that has no part in a run under these
// rules is an error.
[[nodiscard]] sim::SimOptions sim_options(SimArguments asked);

// Fails if what only a generated workload has was given and none of these is one.
void require_generated(const SimArguments& asked, const std::vector<std::string>& workloads);

// Fails if sizes for the jobs of a trace were given and no workload, read already, is one that heeds them.
void require_trace(const SimArguments& asked, std::span<const sim::SimOptions> workloads);

// Fails unless these rules know the policy, or it is a file that has these parameters, can be run and passes its tests.
void require_policy(const std::string& policy, const std::string& simulator,
                    const std::vector<std::string>& params = {});

// Which of the parameters each policy takes: a file those that it has. One that no file has goes to all, so that
// require_policy() refuses it. Fails if there are parameters and no file.
[[nodiscard]] std::map<std::string, std::vector<std::string>> params_by_policy(const std::vector<std::string>& policies,
                                                                               const std::vector<std::string>& params);

struct FinishedRun {
  sim::SimReport report;
  std::string
      complaint;  // of a policy file that failed in some rounds, or of a run without sound figures; empty = none
};
struct RunTerms {
  std::string what = "";                 // begins the sentence of a failure
  std::vector<std::string> params = {};  // of a policy file
};
// Runs it; the policy may be a policy file (replayed_policy.hpp).
[[nodiscard]] FinishedRun run_options(sim::SimOptions options, const RunTerms& terms);

// Says on standard error what the workload asks for and the run did not have.
void print_notes(const std::vector<std::string>& notes, const std::string& workload);

// Reads the workload's file into the options; a built-in word stays as it is. The name that is printed is the file's.
void read_workload(sim::SimOptions& options);

}  // namespace tidepool::ctl
