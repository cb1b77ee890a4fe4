#include "studies/sim_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/number_text.hpp"
#include "base/word_list.hpp"
#include "core/facts/detector_of.hpp"
#include "core/state/node_constraints.hpp"
#include "policies/registry.hpp"
#include "sim/workload.hpp"
#include "straggler/registry.hpp"
#include "studies/baselines/registry.hpp"
#include "studies/baselines/threshold_nodes.hpp"
#include "studies/forecasts/forecast_study.hpp"
#include "studies/forecasts/watched_daemon.hpp"
#include "studies/replay/elasticflow/elasticflow_run.hpp"
#include "studies/replay/gavel/gavel_run.hpp"
#include "studies/replay/pollux/measured_workload.hpp"
#include "studies/replay/pollux/pollux_run.hpp"
#include "studies/replay/rigid/rigid_run.hpp"
#include "studies/replay/rigid/trace_source.hpp"
#include "studies/replay/typed_cluster.hpp"
#include "studies/run_outcome.hpp"
#include "studies/tenant_split.hpp"
#include "studies/traces/trace_workload.hpp"

namespace tidepool::sim {
namespace {

Result<Workload> generated(const SimOptions& options) {
  if (options.generated_jobs < 1 || options.generated_jobs > 1'000'000) {
    return invalid_argument("a generated workload has 1 to 1000000 jobs, not " +
                            std::to_string(options.generated_jobs));
  }
  if (options.generated_interarrival <= Duration()) {
    return invalid_argument("the mean time between arrivals of a generated workload must be above 0s");
  }
  GeneratorOptions generator{
      .seed = options.seed, .jobs = options.generated_jobs, .mean_interarrival = options.generated_interarrival};
  constexpr std::string_view kWord = "generated";
  std::string_view rest = std::string_view(options.workload).substr(kWord.size());
  if (!rest.empty()) {
    rest.remove_prefix(1);  // the colon
    const auto seed = parse_number<decltype(generator.seed)>(rest);
    if (!seed) {
      return invalid_argument("\"" + options.workload + "\": write generated:SEED with a whole number, or generated");
    }
    generator.seed = *seed;
  }
  return generate_workload(generator);
}

int largest(const std::vector<NodeKind>& kinds) {
  int slots = 1;
  for (const NodeKind& kind : kinds) slots = std::max(slots, kind.slots);
  return slots;
}

std::map<std::string, int> largest_by_type(const TypedCluster& cluster, const PoolSetup& pools) {
  std::map<std::string, int> types;
  for (const PoolModel& pool : pools.pools) {
    if (pool.spec.slot_type.empty()) continue;
    int& largest = types[pool.spec.slot_type];
    largest = std::max(largest, pool.spec.slots_per_node);
  }
  for (const TypedCluster::Part& part : cluster.parts) {
    if (part.type.empty()) continue;
    int& largest = types[part.type];
    largest = std::max(largest, part.shape.slots_per_node);
  }
  return types;
}

Result<Workload> workload_of(const SimOptions& options, const TypedCluster& cluster,
                             const std::vector<NodeKind>& kinds) {
  if (gives_trace(options)) {
    const auto trace = trace_of(options);
    if (!trace) return trace.error();
    return workload_of(*trace, options.workload,
                       {.slots_per_node = largest(kinds),
                        .elastic_max = options.elastic_max,
                        .types = largest_by_type(cluster, options.pools),
                        .sigma = options.sigma,
                        .kappa = options.kappa});
  }
  if (options.workload_csv) {
    return read_workload_csv(*options.workload_csv, {.name = options.workload, .seed = options.seed});
  }
  if (options.workload == "generated" || options.workload.starts_with("generated:")) return generated(options);
  return invalid_argument("the workload \"" + options.workload +
                          "\" has no text; give a CSV file, or generated, or generated:SEED");
}

// Its workload, and how long each job of it would take alone; with profiles, as they were measured.
Result<MeasuredJobs> jobs_of(const SimOptions& options, const TypedCluster& cluster,
                             const std::vector<NodeKind>& kinds) {
  if (options.profiles.empty()) {
    auto workload = workload_of(options, cluster, kinds);
    if (!workload) return workload.error();
    return MeasuredJobs{.workload = *std::move(workload), .alone_seconds = {}};
  }
  if (!options.pools.pools.empty() || cluster.parts.size() != 1) {
    return invalid_argument("--profiles were measured on nodes that are alike: give --cluster NODESxSLOTS, no --pool");
  }
  return measured_jobs(options, cluster.parts.front().shape);
}

// Which nodes are worth their price follows from what jobs report; a trace's jobs of days else report once a day.
constexpr Duration kReportWithPools = Duration::seconds(300);

void apply_overrides(const SimOptions& options, Workload& workload) {
  for (SimJob& job : workload.jobs) {
    const bool is_measured = job.truth.program != nullptr;  // what its changes cost is set already
    if (options.restart_penalty && !is_measured) job.truth.boot = *options.restart_penalty;
    if (options.switch_stall && !is_measured) job.truth.switch_stall = *options.switch_stall;
    if (options.undeclared_work) job.spec.work_samples.reset();
    if (options.cooldown) job.spec.elastic.cooldown = *options.cooldown;
    if (!options.pools.pools.empty()) job.truth.report_every = std::min(job.truth.report_every, kReportWithPools);
  }
}

// Node by node, with the speeds that the caller has given for their types.
Result<std::vector<NodeKind>> kinds_of(const TypedCluster& cluster, const SimOptions& options) {
  std::vector<NodeKind> kinds;
  for (const TypedCluster::Part& part : cluster.parts) {
    const auto speed = options.type_speeds.find(part.type);
    const NodeKind kind{.slots = part.shape.slots_per_node,
                        .slot_type = part.type.empty() ? part.shape.slot_type : part.type,
                        .speed = speed == options.type_speeds.end() ? 1 : speed->second};
    kinds.insert(kinds.end(), static_cast<std::size_t>(part.shape.nodes), kind);
  }
  for (const auto& [type, speed] : options.type_speeds) {
    if (!(speed > 0)) return invalid_argument("the speed of " + type + " must be above 0");
    const bool known =
        std::any_of(kinds.begin(), kinds.end(), [&](const NodeKind& kind) { return kind.slot_type == type; }) ||
        std::any_of(options.pools.pools.begin(), options.pools.pools.end(),
                    [&](const PoolModel& pool) { return pool.spec.slot_type == type; });
    if (!known) return invalid_argument("the cluster " + options.cluster + " has no slot type \"" + type + "\"");
  }
  return kinds;
}

// Without pools, or with nodes beside them.
Result<TypedCluster> fixed_cluster(const SimOptions& options) {
  if (options.cluster.empty() && !options.pools.pools.empty()) return TypedCluster{};
  return parse_typed_cluster(options.cluster);
}

// Pools whose nodes compute as fast as the caller says of their type.
Result<PoolSetup> pools_of(const SimOptions& options) {
  PoolSetup pools = options.pools;
  std::set<std::string> names{"node"};
  for (PoolModel& pool : pools.pools) {
    if (!names.insert(pool.spec.name).second) {
      return invalid_argument("two pools are called \"" + pool.spec.name +
                              "\"; give each --pool a name of its own, other than node");
    }
    const auto speed = options.type_speeds.find(pool.spec.slot_type);
    if (speed != options.type_speeds.end()) pool.speed = speed->second;
  }
  return pools;
}

// The cluster with as many nodes as its pools may have.
std::vector<NodeKind> at_its_largest(std::vector<NodeKind> kinds, const PoolSetup& pools) {
  for (const PoolModel& pool : pools.pools) {
    kinds.insert(kinds.end(), static_cast<std::size_t>(pool.spec.max),
                 {.slots = pool.spec.slots_per_node,
                  .slot_type = pool.spec.slot_type.empty() ? NodeKind().slot_type : pool.spec.slot_type,
                  .speed = pool.speed});
  }
  return kinds;
}

std::string cluster_text(const SimOptions& options) {
  std::string text = options.cluster;
  for (const PoolModel& pool : options.pools.pools) {
    const core::PoolSpec& spec = pool.spec;
    text += (text.empty() ? "" : ",") + spec.name + ":" + std::to_string(spec.min) + ".." + std::to_string(spec.max) +
            "x" + std::to_string(spec.slots_per_node);
  }
  return text;
}

// What of a cluster a job may use.
struct Room {
  std::int64_t slots = 0;
  std::int64_t workers = 0;  // of this job: none lies on two nodes
  std::size_t types = 0;     // of slots among which it has to choose one
};

// All workers of a job are on slots of one type, unless it mixes them: of those that it may be on, the one with most
// room (core/validate/plan_validator.cpp refuses any other plan).
Room room_for(const core::JobSpec& spec, const std::vector<NodeKind>& kinds) {
  std::map<std::string_view, Room> rooms;
  for (const NodeKind& kind : kinds) {
    if (!core::takes_slot_type(spec.slot_types, kind.slot_type)) continue;
    Room& room = rooms[spec.mixed_types ? std::string_view() : std::string_view(kind.slot_type)];
    room.slots += kind.slots;
    room.workers += kind.slots / spec.gpus_per_worker;
  }
  Room most{.types = rooms.size()};
  for (const auto& [type, room] : rooms) {
    most.slots = std::max(most.slots, room.slots);
    most.workers = std::max(most.workers, room.workers);
  }
  return most;
}

// Which slots would do for the job, behind how many it needs.
std::string of_types(const core::JobSpec& spec, const Room& room) {
  if (spec.slot_types.size() == 1) return " of the type " + spec.slot_types.front();
  if (!spec.slot_types.empty()) return " of one of the types " + word_series(spec.slot_types);
  return room.types > 1 ? " of one type" : "";
}

// Whose nodes they are, and what to do where a job does not fit on them, in words.
struct Supply {
  std::string has = "the cluster has";
  std::string remedy;
};

// A job that never fits would wait for ever and hold up those behind it.
Status check_fits(const Workload& workload, const std::vector<NodeKind>& kinds, const Supply& supply) {
  std::map<std::tuple<std::vector<std::string>, int, bool>, Room> rooms;  // by all that room_for() reads of a job
  for (const SimJob& job : workload.jobs) {
    const core::JobSpec& spec = job.spec;
    const auto [found, added] = rooms.try_emplace({spec.slot_types, spec.gpus_per_worker, spec.mixed_types});
    if (added) found->second = room_for(spec, kinds);
    const Room& room = found->second;
    if (spec.elastic.min <= room.workers) continue;
    const std::int64_t needs = std::int64_t{spec.elastic.min} * spec.gpus_per_worker;
    const bool slots = needs > room.slots;
    const std::string what =
        slots ? std::to_string(needs) + " slots"
              : std::to_string(spec.elastic.min) + " workers of " + std::to_string(spec.gpus_per_worker) + " slots";
    return invalid_argument("the job " + spec.name + " needs " + what + of_types(spec, room) + ", " + supply.has +
                            (slots ? " " + std::to_string(room.slots) : " room for " + std::to_string(room.workers)) +
                            "; " + supply.remedy);
  }
  return ok_status();
}

int slots_in(const std::vector<NodeKind>& kinds) {
  int slots = 0;
  for (const NodeKind& kind : kinds) slots += kind.slots;
  return slots;
}

ClusterShape shape_of(const std::vector<NodeKind>& kinds) {
  return {.nodes = 1, .slots_per_node = slots_in(kinds)};
}

// How long after the last arrival all jobs would have ended at the sizes that their users prefer, were no slot left
// idle while a job waits (Graham's bound for lists, SIAM J. Appl. Math. 17(2), 1969).
Duration undisturbed_rest(const Workload& workload, const std::vector<NodeKind>& kinds) {
  double slots = 0;
  double slowest = 1;
  for (const NodeKind& kind : kinds) {
    slots += kind.slots;
    slowest = std::min(slowest, kind.speed);
  }
  double slot_seconds = 0;
  double longest = 0;
  for (const SimJob& job : workload.jobs) {
    const int size = std::max(job.spec.elastic.preferred, 1);
    const double alone = static_cast<double>(job.truth.work_samples) / throughput_at(job.truth, size) / slowest;
    slot_seconds += alone * size * job.spec.gpus_per_worker;
    longest = std::max(longest, alone);
  }
  return Duration::from_seconds(slot_seconds / slots + longest);
}

// A worker that takes longer to start, or a job longer to change its size, than the daemon's patience by default would
// be ended and tried again for ever: the operator of such a cluster sets a longer one.
core::EngineConfig engine_for(const Workload& workload) {
  Duration start;
  Duration stall;
  for (const SimJob& job : workload.jobs) {
    start = std::max(start, job.truth.boot);
    stall = std::max({stall, job.truth.switch_stall, job.truth.restarts ? job.truth.boot : Duration()});
  }
  core::EngineConfig config;
  config.start_timeout = std::max(config.start_timeout, start * 2);
  config.switch_timeout = std::max(config.switch_timeout, stall * 2);
  return config;
}

Instant end_of(const SimOptions& options, const Workload& workload, Duration rest) {
  if (options.until) return Instant() + workload.jobs.front().arrives + *options.until;
  return Instant() + workload.jobs.back().arrives + std::max(kUsualEnd, rest * 10);
}

// A run whose jobs failed or were left would else look like one whose jobs were quick.
void tell_outcome(const SimOptions& options, SimReport& report) {
  const auto days = Duration::seconds(std::llround(report.score.makespan_s / 86'400) * 86'400);
  Outcome outcome = outcome_of({.rows = report.rows,
                                .policy = report.score.policy,
                                .cut_off = report.cut_off,
                                .until = options.until.value_or(days),
                                .asked = options.until.has_value()});
  report.notes.insert(report.notes.end(), outcome.notes.begin(), outcome.notes.end());
  report.trouble = std::move(outcome.trouble);
}

// How long each job takes alone, on slots of the fastest type that it may be on. What was measured was so on nodes that
// are alike.
std::function<double(std::size_t, double)> alone_at_best(const MeasuredJobs& jobs, const std::vector<NodeKind>& kinds) {
  if (!jobs.alone_seconds) return alone_in(jobs.workload, kinds);
  return [&jobs, speed = kinds.front().speed](std::size_t row, double slots) {
    return jobs.alone_seconds(row, slots) / speed;
  };
}

void watch(SimSetup& setup, Duration every, studies::ForecastStudy& study) {
  setup.daemon = studies::watched_daemon(
      {.every = every, .look = [&study](const core::ClusterState& state, Instant now) { study.look(state, now); }},
      setup.stopwatch_ns);
}

// Events come often enough to tell the time by.
void tell_progress(SimSetup& setup, const TellProgress& tell) {
  if (!tell) return;
  const std::size_t jobs = setup.workload.jobs.size();
  setup.on_event = [tell, jobs, ended = std::size_t{0}](const core::Event& event) mutable {
    ended += event.type == "job.finished" ? 1 : 0;
    tell({.now = event.at - Instant(), .ended = ended, .jobs = jobs});
  };
}

Status check_laws(const SimResult& result) {
  if (result.violations.empty()) return ok_status();
  return Error{ErrorCode::kInternal, "the run broke a law, which is a bug: " + result.violations.front()};
}

// Those next to the pool have what those below them are guaranteed as parts of theirs.
Status check_guaranteed(const core::TenantTree& tree, int slots) {
  std::int64_t guaranteed = 0;
  for (const core::Tenant& tenant : tree.tenants) guaranteed += tenant.parent.empty() ? tenant.guarantee : 0;
  if (guaranteed <= slots) return ok_status();
  return invalid_argument("the tenants are guaranteed " + std::to_string(guaranteed) +
                          " slots together, the cluster has " + std::to_string(slots) +
                          "; give smaller guarantees, or a larger --cluster");
}

// The tree by which the pool is shared, and every job of one of its leaves; empty = it is shared by no rule.
Result<core::TenantTree> tenants_of(const SimOptions& options, const std::vector<NodeKind>& kinds, Workload& workload) {
  core::TenantTree tree = options.tenants;
  if (options.split != 0) {
    auto equal = equal_tenants(options.split, slots_in(kinds));
    if (!equal) return equal.error();
    tree = *std::move(equal);
  }
  if (tree.empty()) return tree;
  TP_TRY(core::check_tenants(tree));
  TP_TRY(check_guaranteed(tree, slots_in(kinds)));
  const std::string unit = options.split != 0 && options.deal.empty() ? "job" : options.deal;
  if (!unit.empty()) TP_TRY(deal_jobs(workload, tree, {.unit = unit, .seed = options.seed}));
  TP_TRY(check_jobs(workload, tree));
  // All jobs of a workload are part of the run, and its users submit none again.
  for (core::Tenant& tenant : tree.tenants) tenant.jobs_max.reset();
  return tree;
}

// Mean completion times by tenant, each with its jobs on its own part.
Result<std::map<std::string, double>> run_alone(const SimOptions& options, const SimSetup& shared) {
  std::map<std::string, double> means;
  if (!options.alone) return means;
  const auto is_like_first = [&](const NodeKind& kind) {
    return kind.slots == shared.kinds.front().slots && kind.slot_type == shared.kinds.front().slot_type;
  };
  if (!shared.pools.pools.empty() || !std::ranges::all_of(shared.kinds, is_like_first)) {
    return invalid_argument("--alone needs nodes that are alike: give --cluster NODESxSLOTS, no --pool");
  }
  for (const core::Tenant& tenant : shared.tenants.tenants) {
    if (tenant.guarantee == 0 || !shared.tenants.is_leaf(tenant.name)) continue;
    SimSetup own = own_part(shared, tenant);
    if (own.workload.jobs.empty()) continue;
    TP_TRY(check_fits(own.workload, own.kinds,
                      {.has = "its tenant " + tenant.name + " alone has",
                       .remedy = "raise its guarantee, allow smaller sizes with --elastic-max, or leave out --alone"}));
    own.limit = end_of(options, own.workload, undisturbed_rest(own.workload, own.kinds)) - Instant();
    tell_progress(own, options.on_progress);
    const SimResult result = Simulator(std::move(own)).run();
    TP_TRY(check_laws(result));
    const auto mean = mean_completion_s(result.rows);
    if (!result.complete || !mean) {
      return invalid_argument("the jobs of the tenant " + tenant.name + " do not all complete alone on its " +
                              std::to_string(tenant.guarantee) + " slots; raise the guarantee, or leave out --alone");
    }
    means[tenant.name] = *mean;
  }
  return means;
}

// Beside a policy file the daemon's own policy is the default, to which a rollback goes.
auto policies_of(const SimOptions& options) {
  return studies::make_policies(options.file_in_charge ? std::string(policies::kDefaultPreset) : options.policy);
}

// Null stands for the engine's own rule.
Result<std::shared_ptr<const core::ProvisionRule>> nodes_rule_of(const SimOptions& options) {
  auto rule = studies::provision_rule_of(options.provision);
  if (rule && *rule != nullptr && options.file_in_charge && options.file_in_charge->file.provisions) {
    return invalid_argument("the policy " + options.policy +
                            " has the hook provision and says itself how many nodes pools should have; leave out "
                            "--provision " +
                            options.provision);
  }
  return rule;
}

// Why tenants do not share the pool by its rule, in words; empty: they do.
std::string why_unshared(const SimOptions& options, const core::Policy& usual) {
  const std::string policy = "the policy " + options.policy;
  if (options.file_in_charge) {
    return options.file_in_charge->file.shares
               ? ""
               : policy + " has no hook share, so it shares the slots itself, whatever tenants are guaranteed";
  }
  return usual.planner() == nullptr ? policy + " sizes each job by itself, so slots are not shared by rule" : "";
}

Result<SimReport> run_live(const SimOptions& options) {
  const auto cluster = fixed_cluster(options);
  if (!cluster) return cluster.error();
  const auto kinds = kinds_of(*cluster, options);
  if (!kinds) return kinds.error();
  const auto pools = pools_of(options);
  if (!pools) return pools.error();
  const auto provision = nodes_rule_of(options);
  if (!provision) return provision.error();
  const std::vector<NodeKind> most = at_its_largest(*kinds, *pools);
  const auto policies = policies_of(options);
  if (!policies) return policies.error();
  auto jobs = jobs_of(options, *cluster, most);
  if (!jobs) return jobs.error();
  Workload* const workload = &jobs->workload;
  TP_TRY(check_fits(*workload, most,
                    {.remedy = pools->pools.empty() ? "give a larger --cluster" : "give a larger --pool"}));
  apply_overrides(options, *workload);
  const auto tenants = tenants_of(options, most, *workload);
  if (!tenants) return tenants.error();

  const auto detectors = core::detectors_of(straggler::kDetectors);
  core::Engine::Parts parts{
      .policies = *policies,
      .stragglers = {.usual = detectors.at(std::string(straggler::kDefaultDetector)), .named = detectors},
      .config = engine_for(*workload),
      .file_policy = options.file_in_charge ? options.file_in_charge->policy : nullptr,
      .provision = *provision};
  FaultMix faults = options.faults;
  const Duration last = workload->jobs.back().arrives;
  const Duration rest = undisturbed_rest(*workload, most);
  if (faults.until == Duration()) faults.until = last + rest;  // without an end of them the run might have none
  SimSetup setup{.workload = *workload,
                 .cluster = {.nodes = static_cast<int>(kinds->size()), .slots_per_node = largest(*kinds)},
                 .pools = *pools,
                 .tenants = *tenants,
                 .kinds = *kinds,
                 .parts = [parts] { return parts; },
                 .file = options.file_in_charge,
                 .seed = options.seed,
                 .faults = faults,
                 .compute_times = faults.worker_slow_every > Duration() || faults.node_slow_every > Duration() ||
                                  faults.node_noisy_every > Duration(),
                 .limit = end_of(options, *workload, rest) - Instant(),
                 .keep_decisions = options.keep_decisions,
                 .stopwatch_ns = options.stopwatch_ns};
  const auto alone = run_alone(options, setup);
  if (!alone) return alone.error();
  studies::ForecastStudy study({.parts = setup.parts, .limits = {}, .stopwatch_ns = options.stopwatch_ns});
  if (options.forecast_every) watch(setup, *options.forecast_every, study);
  tell_progress(setup, options.on_progress);
  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  const SimResult result = Simulator(std::move(setup)).run();
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  TP_TRY(check_laws(result));
  SimReport report = report_of({.result = result,
                                .cluster = pools->pools.empty() ? cluster->whole() : shape_of(most),
                                .fixed_slots = slots_in(*kinds),
                                .workload = workload->name,
                                .policy = options.policy,
                                .alone_seconds = alone_at_best(*jobs, most),
                                .wall_s = static_cast<double>(end - begin) * 1e-9});
  report.score.cluster = cluster_text(options);
  report.decisions_jsonl = named_decisions(result);
  report.notes = workload->notes;
  if (!tenants->empty()) report.sharing = sharing_of(*tenants, result, *alone);
  const std::string unshared = tenants->empty() ? "" : why_unshared(options, *policies->at("default"));
  if (!unshared.empty()) report.notes.push_back(unshared);
  if (options.forecast_every) report.forecasts_json = studies::to_json(study.report(result)).dump();
  return report;
}

constexpr std::array kRuns{run_elasticflow, run_gavel, run_live, run_pollux, run_rigid};  // in the order of kSimulators
static_assert(kRuns.size() == kSimulators.size());

}  // namespace

Result<SimReport> run(const SimOptions& options) {
  const bool by_file = options.policy_file != nullptr || options.file_in_charge;
  if (by_file && options.simulator != "live" && options.simulator != "pollux") {
    return invalid_argument("a policy file is simulated under --simulator live or pollux, not " + options.simulator);
  }
  for (std::size_t i = 0; i < kSimulators.size(); ++i) {
    if (kSimulators[i].name != options.simulator) continue;
    if (options.simulator != "live" && options.simulator != "rigid" && gives_trace(options)) {
      return invalid_argument(options.workload +
                              " is a trace, which knows no speeds: run it under --simulator live or rigid; " +
                              options.simulator + " replays the file that its own simulator reads, as it is published");
    }
    auto report = kRuns[i](options);
    if (report) tell_outcome(options, *report);
    return report;
  }
  return invalid_argument("there is no simulator called \"" + options.simulator +
                          "\"; there are: " + word_list(kSimulators, &SimulatorRules::name));
}

}  // namespace tidepool::sim
