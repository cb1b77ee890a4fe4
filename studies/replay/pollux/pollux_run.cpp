#include "studies/replay/pollux/pollux_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "studies/baselines/registry.hpp"
#include "studies/replay/epoch_training.hpp"
#include "studies/replay/jct_bound.hpp"
#include "studies/replay/pollux/adaptive_training.hpp"
#include "studies/replay/pollux/pollux_workload.hpp"
#include "studies/replay/replay.hpp"

namespace tidepool::sim {
namespace {

// What a run's jobs have in common.
struct JobRules {
  policies::cluster::Knowledge knowledge = policies::cluster::Knowledge::kOracle;
  int restart_s = 30;
  bool declared_work = true;
  bool kind_prior = true;
  // What the jobs of an application have found out so far, together. Never null.
  std::map<std::string, KindKnowledge>* kinds = nullptr;
  policies::SimilarJobWork* kin = nullptr;  // of all jobs, where those that measure alike are kin
  int round_s = 60;
};

Result<ReplayJob> make_job(const PolluxRow& row, PolluxMeasurements& measurements, const JobRules& rules) {
  const auto application = measurements.application(row.application);
  if (!application) return application.error();
  const bool by_job = rules.knowledge == policies::cluster::Knowledge::kLearntByJob;
  const bool adaptive = by_job || rules.knowledge == policies::cluster::Knowledge::kLearnt;
  const int size_max = size_most(**application, row.batch);
  ReplayJob job{.name = row.name, .application = row.application, .submitted_s = row.submitted_s, .training = nullptr};
  const EpochTraining::Setup setup{
      .application = **application,
      .oracle = measurements.oracle(**application, row.batch),
      .batch = row.batch,
      .size_wanted = row.size,
      .size_max = adaptive ? size_most(**application, (*application)->batch_max()) : size_max,
      .restart_s = rules.restart_s,
      .declared_work = rules.declared_work,
      .sizes_known = rules.knowledge != policies::cluster::Knowledge::kVisited};
  if (adaptive) {
    job.training = std::make_unique<AdaptiveTraining>(
        setup, (*rules.kinds)[by_job ? row.application + " of " + row.name : row.application],
        AdaptiveTraining::Rules{.fixed_batch = fixed_batch_of(row.application),
                                .prior = rules.kind_prior,
                                .kin = rules.kin,
                                .number = static_cast<std::uint64_t>(row.line)});
  } else {
    job.training = std::make_unique<FixedBatchTraining>(setup);
  }
  return job;
}

// What no policy can get the average completion time below, for jobs that choose their batches or keep them.
double jct_bound(const std::vector<PolluxRow>& rows, PolluxMeasurements& measurements, const ClusterShape& cluster,
                 const JobRules& rules) {
  const bool fixed = rules.knowledge == policies::cluster::Knowledge::kOracle ||
                     rules.knowledge == policies::cluster::Knowledge::kVisited;
  std::map<std::pair<std::string, int>, LeastNeed> needs;
  std::vector<NeedyJob> jobs;
  for (const PolluxRow& row : rows) {
    const MeasuredApplication& application = **measurements.application(row.application);
    const int batch = fixed ? row.batch : fixed_batch_of(row.application);
    const auto [need, is_new] = needs.try_emplace({row.application, batch});
    if (is_new) {
      const int size_max = size_most(application, fixed ? row.batch : application.batch_max());
      need->second = least_need({.application = application,
                                 .limits = {.initial = application.initial_batch(),
                                            .largest = application.batch_max(),
                                            .local_min = application.local_batch_min(),
                                            .local_max = application.local_batch_max()},
                                 .fixed_batch = batch,
                                 .size_max = std::min(size_max, cluster.slots()),
                                 .slots_per_node = cluster.slots_per_node});
    }
    const double rounds = std::ceil(row.submitted_s / rules.round_s);
    jobs.push_back(
        {.submitted_s = row.submitted_s, .ready_s = rounds * rules.round_s + rules.restart_s, .need = need->second});
  }
  return jct_bounds(jobs, cluster.slots()).best_s();
}

}  // namespace

Result<SimReport> run_pollux(const SimOptions& options) {
  const auto cluster = parse_cluster(options.cluster);
  if (!cluster) return cluster.error();
  // A policy file sees what tidal sees, and its jobs are placed as tidal's are.
  const auto preset = studies::find_preset(options.policy_file != nullptr ? "tidal" : options.policy);
  if (!preset) return preset.error();
  const int round_s = whole_seconds(options.round, 60);
  if (round_s < 1) return invalid_argument("--round must be at least 1s");
  auto rows = read_pollux_rows(options);
  if (!rows) return rows.error();

  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  PolluxMeasurements measurements(options.profiles, *cluster);
  std::map<std::string, KindKnowledge> kinds;
  policies::SimilarJobWork kin;
  ClampedJobs clamped;
  for (PolluxRow& row : *rows) TP_TRY(clamp_to_profile(row, measurements, clamped));
  const auto policy = preset->policy();
  const auto place = preset->place();
  ReplaySetup setup{.cluster = *cluster,
                    .jobs = {},
                    .policy = options.policy_file != nullptr ? *options.policy_file : *policy,
                    .place = *place,
                    .round_s = round_s};
  setup.interference = options.interference;
  setup.limit_s = rows->front().submitted_s + options.until.value_or(kUsualEnd).to_seconds();
  setup.stopwatch_ns = options.stopwatch_ns;
  setup.keep_decisions = options.keep_decisions;
  setup.on_progress = options.on_progress;
  // A baseline with an oracle knows the work that is left, as published; any other only what its user has declared.
  const bool oracle = preset->knowledge == policies::cluster::Knowledge::kOracle ||
                      preset->knowledge == policies::cluster::Knowledge::kVisited;
  const JobRules rules{.knowledge = preset->knowledge,
                       .restart_s = whole_seconds(options.restart_penalty, 30),
                       .declared_work = oracle || options.declared_work,
                       .kind_prior = options.kind_prior && !options.kin_by_pace,
                       .kinds = &kinds,
                       .kin = options.kin_by_pace ? &kin : nullptr,
                       .round_s = round_s};
  for (const PolluxRow& row : *rows) {
    auto job = make_job(row, measurements, rules);
    if (!job) return job.error();
    setup.jobs.push_back(*std::move(job));
  }
  std::vector<const Training*> trainings;
  for (const ReplayJob& job : setup.jobs) trainings.push_back(job.training.get());
  const auto result = replay(setup);
  if (!result) return result.error();
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  SimReport report =
      report_of({.result = *result,
                 .cluster = *cluster,
                 .workload = options.workload,
                 .policy = options.policy,
                 .alone_seconds = [&](std::size_t row, double slots) { return trainings[row]->alone_seconds(slots); },
                 .wall_s = static_cast<double>(end - begin) * 1e-9,
                 .jct_bound_s = jct_bound(*rows, measurements, *cluster, rules)});
  report.notes = clamped.notes(rows->size());
  return report;
}

}  // namespace tidepool::sim
