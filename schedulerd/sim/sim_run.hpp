// `schedctl sim run` without its files and clocks: options in, report out. The same options give the same report,
// except for what the stopwatch measures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "schedulerd/sim/fault_mix.hpp"
#include "schedulerd/sim/replay/measured_application.hpp"
#include "schedulerd/sim/scoreboard.hpp"

namespace tidepool::sim {

struct SimOptions {
  // "generated", "generated:SEED", or the name under which `workload_csv` is printed.
  std::string workload = "generated";
  std::optional<std::string> workload_csv;  // the text of the workload's file (workload.hpp says which columns)
  int generated_jobs = 100;                 // 1 .. 1,000,000; without a file
  Duration generated_interarrival = Duration::seconds(60);
  std::string cluster = "16x4";
  std::string policy = "autoscaling_engine";
  // pollux: decides instead of a policy of the table; `policy` is then only its name. Outlives the run.
  const policies::cluster::AllocationPolicy* policy_file = nullptr;
  // live: event-driven, transition costs as modelled. pollux: rounds, measured profiles (replay/pollux_run.hpp).
  std::string semantics = "live";
  std::map<std::string, ApplicationFiles> profiles;  // by application; what pollux replays
  std::optional<Duration> round;                     // between decisions, of the semantics that have rounds
  bool declared_work = false;                        // pollux: users declare how much work their jobs are
  std::uint64_t seed = 1;                            // of the workload (if it has none of its own) and of the run
  std::optional<Duration> restart_penalty;  // from a worker's start to its readiness; none = as the workload says
  std::optional<Duration> switch_stall;     // of each change of size; none = as the workload says
  std::optional<Duration> cooldown;         // between changes of size of a job; none = as the workload says
  FaultMix faults;                          // none by default; `until` = 0 means for as long as jobs arrive
  Duration limit = Duration::seconds(90 * 86'400);  // of simulated time
  bool keep_decisions = false;
  std::function<std::int64_t()> stopwatch_ns;  // a running clock in nanoseconds; none = times are printed as 0
};

struct SimReport {
  Scoreboard score;
  std::string per_job_csv;
  std::string decisions_jsonl;  // one decision a line; empty unless keep_decisions
};

// Errors name the option and what it may be.
[[nodiscard]] Result<SimReport> run(const SimOptions& options);

}  // namespace tidepool::sim
