#include "studies/replay/rigid/rigid_run.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "studies/baselines/registry.hpp"
#include "studies/replay/replay.hpp"
#include "studies/replay/rigid/rigid_training.hpp"
#include "studies/replay/rigid/trace_source.hpp"
#include "studies/traces/trace_workload.hpp"

namespace tidepool::sim {
namespace {

constexpr int kRoundS = 60;
constexpr int kRestartS = 30;

// The usual end, or ten times what all would take one after the other on full slots, each with its start and the rest
// of its last round: only a policy that lets jobs starve needs as long.
double usual_limit_s(const Trace& trace, const ClusterShape& cluster, double each_s) {
  double slot_seconds = 0;
  double longest = 0;
  for (const TraceJob& job : trace.jobs) {
    slot_seconds += (job.duration_s + each_s) * job.gpus;
    longest = std::max(longest, job.duration_s + each_s);
  }
  const double rest_s = 10 * (slot_seconds / cluster.slots() + longest);
  return trace.jobs.back().submit_s + std::max(kUsualEnd.to_seconds(), rest_s);
}

Result<std::vector<ReplayJob>> jobs_of(const Trace& trace, const ClusterShape& cluster, const SimOptions& options) {
  std::vector<ReplayJob> jobs;
  for (const TraceJob& job : trace.jobs) {
    if (job.gpus > cluster.slots()) {
      return invalid_argument("the job " + job.name + " needs " + std::to_string(job.gpus) +
                              " slots, the cluster has " + std::to_string(cluster.slots()) +
                              "; give a larger --cluster");
    }
    jobs.push_back({.name = job.name,
                    .application = job.application.empty() ? job.tenant : job.application,
                    .submitted_s = job.submit_s,
                    .training = std::make_unique<RigidTraining>(
                        RigidTraining::Setup{.size = job.gpus,
                                             .duration_s = job.duration_s,
                                             .restart_s = whole_seconds(options.restart_penalty, kRestartS),
                                             .declared_work = options.declared_work})});
  }
  return jobs;
}

// A policy that serves deadlines would else look like one that misses none.
std::vector<std::string> notes_of_rigid(const Trace& trace) {
  std::vector<std::string> notes = unmet_asks(trace, {});
  const auto dated = std::ranges::count_if(trace.jobs, [](const TraceJob& job) { return job.deadline_s.has_value(); });
  if (dated > 0) {
    notes.push_back(std::to_string(dated) + " of " + std::to_string(trace.jobs.size()) +
                    " jobs have a deadline, which --simulator rigid does not know: no policy sees it and none is judged"
                    " by it");
  }
  return notes;
}

}  // namespace

Result<SimReport> run_rigid(const SimOptions& options) {
  const auto cluster = parse_cluster(options.cluster);
  if (!cluster) return cluster.error();
  const auto preset = studies::find_preset(options.policy);
  if (!preset) return preset.error();
  const int round_s = whole_seconds(options.round, kRoundS);
  if (round_s < 1) return invalid_argument("--round must be at least 1s");
  const auto trace = trace_of(options);
  if (!trace) return trace.error();
  auto jobs = jobs_of(*trace, *cluster, options);
  if (!jobs) return jobs.error();

  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  const auto policy = preset->policy();
  const auto place = preset->place();
  ReplaySetup setup{
      .cluster = *cluster, .jobs = *std::move(jobs), .policy = *policy, .place = *place, .round_s = round_s};
  const int restart_s = whole_seconds(options.restart_penalty, kRestartS);
  setup.limit_s = options.until ? trace->jobs.front().submit_s + options.until->to_seconds()
                                : usual_limit_s(*trace, *cluster, double(round_s) + restart_s);
  setup.stopwatch_ns = options.stopwatch_ns;
  setup.keep_decisions = options.keep_decisions;
  setup.on_progress = options.on_progress;
  auto result = replay(setup);
  if (!result) return result.error();
  for (std::size_t row = 0; row < result->rows.size(); ++row) result->rows[row].tenant = trace->jobs[row].tenant;
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  SimReport report = report_of(
      {.result = *result,
       .cluster = *cluster,
       .workload = options.workload,
       .policy = options.policy,
       .alone_seconds = [&](std::size_t row, double slots) { return setup.jobs[row].training->alone_seconds(slots); },
       .wall_s = static_cast<double>(end - begin) * 1e-9});
  report.notes = notes_of_rigid(*trace);
  return report;
}

}  // namespace tidepool::sim
