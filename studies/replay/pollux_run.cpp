#include "studies/replay/pollux_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "studies/baselines/registry.hpp"
#include "studies/replay/adaptive_training.hpp"
#include "studies/replay/clamped_jobs.hpp"
#include "studies/replay/csv_columns.hpp"
#include "studies/replay/epoch_training.hpp"
#include "studies/replay/jct_bound.hpp"
#include "studies/replay/replay.hpp"

namespace tidepool::sim {
namespace {

// Where the published set-up departs from what the profiles say.
struct Exception {
  std::string_view application;
  int local_batch_cap = 0;  // 0 = as measured
  int size_cap = 0;         // 0 = none
  int fixed_batch = 0;      // for jobs that else choose theirs; 0 = they do
};
constexpr std::array kExceptions{
    Exception{.application = "ncf", .size_cap = 1, .fixed_batch = 32'768},
    Exception{.application = "yolov3", .local_batch_cap = 8},
};

Exception exception_of(std::string_view application) {
  for (const Exception& exception : kExceptions) {
    if (exception.application == application) return exception;
  }
  return {.application = application};
}

struct WorkloadRow {
  int line = 0;
  std::string name;
  std::string application;
  double submitted_s = 0;
  int size = 1;
  int batch = 1;
};

Result<std::vector<WorkloadRow>> read_rows(const SimOptions& options) {
  if (!options.workload_csv) {
    return invalid_argument(
        "--simulator pollux replays a file: give --workload FILE.csv (name,time,application,"
        "num_replicas,batch_size)");
  }
  const auto rows = read_csv_columns(*options.workload_csv,
                                     {"name", "time", "application", "num_replicas", "batch_size"}, options.workload);
  if (!rows) return rows.error();
  std::vector<WorkloadRow> found;
  for (const CsvRow& row : *rows) {
    WorkloadRow job{.line = row.line, .name = std::string(row.cells[0]), .application = std::string(row.cells[2])};
    const auto submitted = csv_seconds(row.cells[1], row.line, options.workload);
    if (!submitted) return submitted.error();
    job.submitted_s = *submitted;
    const std::array<std::pair<int*, std::size_t>, 2> counts{{{&job.size, 3}, {&job.batch, 4}}};
    for (const auto& [field, cell] : counts) {
      const auto count = csv_count(row.cells[cell], row.line, options.workload);
      if (!count) return count.error();
      *field = *count;
    }
    if (job.size < 1) {
      return invalid_argument(options.workload + " line " + std::to_string(row.line) +
                              ": num_replicas must be above 0");
    }
    found.push_back(std::move(job));
  }
  if (found.empty()) return invalid_argument("the workload " + options.workload + " has no job");
  std::sort(found.begin(), found.end(), [](const WorkloadRow& a, const WorkloadRow& b) {
    return std::pair(a.submitted_s, a.line) < std::pair(b.submitted_s, b.line);
  });
  return found;
}

// The applications and oracles of a run, shared by its jobs.
class Measurements {
 public:
  Measurements(const SimOptions& options, const ClusterShape& cluster) : options_(options), cluster_(cluster) {}

  Result<const MeasuredApplication*> application(const std::string& name) {
    if (const auto found = applications_.find(name); found != applications_.end()) return &found->second;
    const auto files = options_.profiles.find(name);
    if (files == options_.profiles.end()) {
      return invalid_argument("the profiles have no application called \"" + name +
                              "\"; give --profiles a folder with a folder per application");
    }
    auto read = MeasuredApplication::read(name, files->second, exception_of(name).local_batch_cap);
    if (!read) return read.error();
    return &applications_.emplace(name, *std::move(read)).first->second;
  }

  const OracleSpeed& oracle(const MeasuredApplication& application, int batch) {
    const auto key = std::pair(application.name(), batch);
    auto found = oracles_.find(key);
    if (found == oracles_.end()) {
      found = oracles_
                  .try_emplace(key, OracleSpeed::Setup{.application = application,
                                                       .batch = batch,
                                                       .slots = cluster_.slots(),
                                                       .slots_per_node = cluster_.slots_per_node})
                  .first;
    }
    return found->second;
  }

  // What the jobs of an application have found out so far, together.
  KindKnowledge& kind(const std::string& application) { return kinds_[application]; }
  // What jobs of all applications have done, for those that measure alike.
  policies::KinWork& kin() { return kin_; }

 private:
  const SimOptions& options_;
  const ClusterShape& cluster_;
  std::map<std::string, KindKnowledge> kinds_;
  policies::KinWork kin_;
  std::map<std::string, MeasuredApplication> applications_;
  std::map<std::pair<std::string, int>, OracleSpeed> oracles_;
};

int whole_seconds(const std::optional<Duration>& given, int usual) {
  return given ? static_cast<int>(given->count_ms() / 1'000) : usual;
}

// What a run's jobs have in common.
struct JobRules {
  policies::cluster::Knowledge knowledge = policies::cluster::Knowledge::kOracle;
  int restart_s = 30;
  bool declared_work = true;
  bool kind_prior = true;
  policies::KinWork* kin = nullptr;  // of all jobs, where those that measure alike are kin
  int round_s = 60;
};

// The largest size at which each worker still gets its smallest batch out of a global one.
int most(const MeasuredApplication& application, int batch) {
  const int size = std::max(1, batch / application.local_batch_min());
  const int cap = exception_of(application.name()).size_cap;
  return cap > 0 ? std::min(size, cap) : size;
}

// Its batch becomes one between the measured ones, its size one that leaves each worker a measured batch.
Status clamp(WorkloadRow& row, Measurements& measurements, ClampedJobs& clamped) {
  const auto application = measurements.application(row.application);
  if (!application) return application.error();
  const MeasuredApplication& measured = **application;
  const int batch = std::exchange(row.batch, std::clamp(row.batch, measured.initial_batch(), measured.batch_max()));
  clamped.batches += batch != row.batch ? 1 : 0;
  const int size = std::exchange(row.size, std::min(row.size, most(measured, row.batch)));
  clamped.sizes += size != row.size ? 1 : 0;
  return ok_status();
}

Result<ReplayJob> make_job(const WorkloadRow& row, Measurements& measurements, const JobRules& rules) {
  const auto application = measurements.application(row.application);
  if (!application) return application.error();
  const bool by_job = rules.knowledge == policies::cluster::Knowledge::kLearntByJob;
  const bool adaptive = by_job || rules.knowledge == policies::cluster::Knowledge::kLearnt;
  const int size_max = most(**application, row.batch);
  ReplayJob job{.name = row.name, .application = row.application, .submitted_s = row.submitted_s, .training = nullptr};
  const EpochTraining::Setup setup{.application = **application,
                                   .oracle = measurements.oracle(**application, row.batch),
                                   .batch = row.batch,
                                   .size_wanted = row.size,
                                   .size_max = adaptive ? most(**application, (*application)->batch_max()) : size_max,
                                   .restart_s = rules.restart_s,
                                   .declared_work = rules.declared_work,
                                   .sizes_known = rules.knowledge != policies::cluster::Knowledge::kVisited};
  if (adaptive) {
    job.training = std::make_unique<AdaptiveTraining>(
        setup, measurements.kind(by_job ? row.application + " of " + row.name : row.application),
        AdaptiveTraining::Rules{.fixed_batch = exception_of(row.application).fixed_batch,
                                .prior = rules.kind_prior,
                                .kin = rules.kin,
                                .number = static_cast<std::uint64_t>(row.line)});
  } else {
    job.training = std::make_unique<FixedBatchTraining>(setup);
  }
  return job;
}

// What no policy can get the average completion time below, for jobs that choose their batches or keep them.
double jct_bound(const std::vector<WorkloadRow>& rows, Measurements& measurements, const ClusterShape& cluster,
                 const JobRules& rules) {
  const bool fixed = rules.knowledge == policies::cluster::Knowledge::kOracle ||
                     rules.knowledge == policies::cluster::Knowledge::kVisited;
  std::map<std::pair<std::string, int>, LeastNeed> needs;
  std::vector<NeedyJob> jobs;
  for (const WorkloadRow& row : rows) {
    const MeasuredApplication& application = **measurements.application(row.application);
    const int batch = fixed ? row.batch : exception_of(row.application).fixed_batch;
    const auto [need, is_new] = needs.try_emplace({row.application, batch});
    if (is_new) {
      const int size_max = most(application, fixed ? row.batch : application.batch_max());
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
  auto rows = read_rows(options);
  if (!rows) return rows.error();

  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  Measurements measurements(options, *cluster);
  ClampedJobs clamped;
  for (WorkloadRow& row : *rows) TP_TRY(clamp(row, measurements, clamped));
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
  // A baseline with an oracle knows the work that is left, as published; any other only what its user has declared.
  const bool oracle = preset->knowledge == policies::cluster::Knowledge::kOracle ||
                      preset->knowledge == policies::cluster::Knowledge::kVisited;
  const JobRules rules{.knowledge = preset->knowledge,
                       .restart_s = whole_seconds(options.restart_penalty, 30),
                       .declared_work = oracle || options.declared_work,
                       .kind_prior = options.kind_prior && !options.kin_by_pace,
                       .kin = options.kin_by_pace ? &measurements.kin() : nullptr,
                       .round_s = round_s};
  for (const WorkloadRow& row : *rows) {
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
