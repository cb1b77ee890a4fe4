#include "schedulerd/sim/sim_run.hpp"

#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "policies/registry.hpp"
#include "schedulerd/core/detector_of.hpp"
#include "schedulerd/sim/replay/pollux_run.hpp"
#include "schedulerd/sim/workload.hpp"
#include "straggler/registry.hpp"

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
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), generator.seed);
    if (error != std::errc{} || end != rest.data() + rest.size() || rest.empty()) {
      return invalid_argument("\"" + options.workload + "\": write generated:SEED with a whole number, or generated");
    }
  }
  return generate_workload(generator);
}

Result<Workload> workload_of(const SimOptions& options) {
  if (options.workload_csv) {
    return read_workload_csv(*options.workload_csv, {.name = options.workload, .seed = options.seed});
  }
  if (options.workload == "generated" || options.workload.starts_with("generated:")) return generated(options);
  return invalid_argument("the workload \"" + options.workload +
                          "\" has no text; give a CSV file, or generated, or generated:SEED");
}

void apply_overrides(const SimOptions& options, Workload& workload) {
  for (SimJob& job : workload.jobs) {
    if (options.restart_penalty) job.truth.boot = *options.restart_penalty;
    if (options.switch_stall) job.truth.switch_stall = *options.switch_stall;
    if (options.cooldown) job.spec.elastic.cooldown = *options.cooldown;
  }
}

}  // namespace

Result<SimReport> run(const SimOptions& options) {
  if (options.policy_file != nullptr && options.semantics != "pollux") {
    return invalid_argument("a policy file is replayed under --semantics pollux, not " + options.semantics);
  }
  if (options.semantics == "pollux") return run_pollux(options);
  if (options.semantics != "live") {
    return invalid_argument("there are no semantics called \"" + options.semantics + "\"; there are: live, pollux");
  }
  const auto cluster = parse_cluster(options.cluster);
  if (!cluster) return cluster.error();
  auto policies = policies::make_policies(options.policy);
  if (!policies) return policies.error();
  auto workload = workload_of(options);
  if (!workload) return workload.error();
  apply_overrides(options, *workload);

  const auto detectors = core::detectors_of(straggler::kDetectors);
  core::Engine::Parts parts{.policies = *policies,
                            .detector = detectors.at(std::string(straggler::kDefaultDetector)),
                            .detectors = detectors};
  FaultMix faults = options.faults;
  if (faults.until == Duration()) faults.until = workload->jobs.back().arrives;
  SimSetup setup{.workload = *workload,
                 .cluster = *cluster,
                 .parts = [parts] { return parts; },
                 .seed = options.seed,
                 .faults = faults,
                 .compute_times = faults.worker_slow_every > Duration() || faults.node_slow_every > Duration() ||
                                  faults.node_noisy_every > Duration(),
                 .limit = options.limit,
                 .keep_decisions = options.keep_decisions,
                 .stopwatch_ns = options.stopwatch_ns};
  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  const SimResult result = Simulator(std::move(setup)).run();
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  if (!result.violations.empty()) {
    return Error{ErrorCode::kInternal, "the run broke a law, which is a bug: " + result.violations.front()};
  }
  SimReport report{.score = score({.result = result,
                                   .cluster = *cluster,
                                   .workload = workload->name,
                                   .policy = options.policy,
                                   .alone_seconds = alone_in(*workload),
                                   .wall_s = static_cast<double>(end - begin) * 1e-9}),
                   .per_job_csv = per_job_csv(result.rows)};
  for (const std::string& line : result.decision_lines) report.decisions_jsonl += line + "\n";
  return report;
}

}  // namespace tidepool::sim
