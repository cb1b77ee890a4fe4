// What a simulated run is asked for, whatever its rules.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/state/tenants.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "sim/fault_mix.hpp"
#include "sim/pool_provider.hpp"
#include "sim/simulator.hpp"
#include "studies/replay/measured_application.hpp"
#include "studies/replay/run_progress.hpp"

namespace tidepool::sim {

// The sets of rules under which a run can be made; simulators of others are followed to the second.
struct SimulatorRules {
  std::string_view name;
  std::string_view summary;
};
inline constexpr std::array kSimulators{
    SimulatorRules{"elasticflow", "deadlines in 60 s slots, as in ElasticFlow's simulator; --profiles: speed tables"},
    SimulatorRules{"gavel", "360 s leases on several GPU types, as in Gavel's simulator; --profiles: a JSON table"},
    SimulatorRules{"live", "the daemon's own engine event by event, with its measured costs of a change"},
    SimulatorRules{"pollux", "60 s rounds over measured profiles, as in Pollux' artifact; --profiles: a folder"},
    SimulatorRules{"rigid", "60 s rounds over a trace, every job at the size it asked for"},
};

inline constexpr Duration kUsualEnd = Duration::seconds(90 * 86'400);

struct SimOptions {
  // "generated", "generated:SEED", "rigid:KIND[:SEED]" (traces/rigid_workloads.hpp), or the name under which
  // `workload_csv` is printed.
  std::string workload = "generated";
  std::optional<std::string> workload_csv;  // the text of the workload's file (workload.hpp says which columns)
  int generated_jobs = 100;                 // 1 .. 1,000,000; without a file
  Duration generated_interarrival = Duration::seconds(60);
  std::string cluster = "16x4";  // empty = there are only nodes of pools
  // live: nodes that come and go beside those of the cluster, and by which rule (baselines/threshold_nodes.hpp).
  PoolSetup pools;
  std::string provision = "built-in";
  std::string policy = "tidal";
  // pollux, live: a policy file decides instead of a policy of the table; `policy` is then only its name. Round by
  // round it is an allocation, which outlives the run; live it is in charge as in a daemon.
  const policies::cluster::AllocationPolicy* policy_file = nullptr;
  std::optional<ActivePolicyFile> file_in_charge;
  // live: event-driven, transition costs as modelled. pollux: rounds, measured profiles (pollux/pollux_run.hpp).
  // gavel: leases on several slot types (gavel/gavel_run.hpp). elasticflow: deadlines
  // (elasticflow/elasticflow_run.hpp). rigid: rounds over a trace, one size a job (rigid/rigid_run.hpp).
  std::string simulator = "live";
  std::map<std::string, ApplicationFiles> profiles;  // by application; what pollux replays, and live where given
  bool as_packed = false;  // live, with profiles: jobs go as if their workers lay on as few nodes as possible
  std::map<std::string, std::string> profile_files;  // by file name; what gavel and elasticflow replay
  std::optional<Duration> round;                     // between decisions, of the simulators that have rounds
  bool declared_work = false;                        // pollux, rigid: users declare how much work their jobs are
  bool undeclared_work = false;                      // live: users do not declare how much work their jobs are
  bool kind_prior = true;                            // pollux: earlier jobs of a kind tell what to expect of later ones
  std::uint64_t seed = 1;                            // of the workload (if it has none of its own) and of the run
  // pollux, in place of kind_prior: kinds are not told; jobs that measure alike tell what to expect.
  bool kin_by_pace = false;
  std::optional<Duration> restart_penalty;  // from a worker's start to its readiness; none = as the workload says
  std::optional<Duration> switch_stall;     // of each change of size; none = as the workload says
  // live, with a recorded trace, whose jobs are else rigid (traces/trace_workload.hpp): the largest size a job may
  // take, and the curve by which it speeds up.
  int elastic_max = 0;
  double sigma = 0.05;
  double kappa = 0.0005;
  std::map<std::string, double> type_speeds;  // live: how fast slots of a type compute; 1 = as the workload says
  double interference = 0;  // pollux: part of its speed that a distributed job loses on a node with another such job
  std::optional<Duration> cooldown;  // between changes of size of a job; none = as the workload says
  FaultMix faults;                   // none by default; `until` = 0: until all jobs would have ended undisturbed
  // The end of simulated time, after the first submission; none = kUsualEnd, live at least so long after the last one.
  std::optional<Duration> until;
  // live: who shares the pool; empty and no `split` = jobs of any tenant, by no rule.
  core::TenantTree tenants;
  int split = 0;  // live, in place of `tenants`: between so many tenants, with equal parts of the pool
  // live, with tenants: what of the workload goes to one of them together, such as "job" (tenant_split.hpp); empty =
  // jobs are of the tenants that they name.
  std::string deal;
  bool alone = false;  // live, with tenants: the jobs of each also run alone on what it is guaranteed (sim/sharing.hpp)
  // live: how often all jobs are forecast and held against what happens (forecasts/forecast_study.hpp); none = never.
  std::optional<Duration> forecast_every;
  bool keep_decisions = false;
  std::function<std::int64_t()> stopwatch_ns;  // a running clock in nanoseconds; none = times are printed as 0
  TellProgress on_progress;                    // none = not told
};

// `given` in whole seconds, for rules that count these; `usual` where nothing is given.
[[nodiscard]] inline int whole_seconds(const std::optional<Duration>& given, int usual) {
  return given ? static_cast<int>(given->count_ms() / 1'000) : usual;
}

}  // namespace tidepool::sim
