#include "studies/replay/elasticflow/elasticflow_run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "studies/baselines/registry.hpp"
#include "studies/replay/clamped_jobs.hpp"
#include "studies/replay/csv_columns.hpp"
#include "studies/replay/elasticflow/deadline_bound.hpp"
#include "studies/replay/elasticflow/slot_events.hpp"
#include "studies/replay/typed_cluster.hpp"
#include "studies/traces/elasticflow_columns.hpp"

namespace tidepool::sim {
namespace {

// How the published run of a policy departs from the rules for all: steps of its jobs are seconds of the declared
// duration, sizes beyond the fastest one are allowed, schedules are charged to others.
struct PublishedRun {
  std::string_view policy;
  Charge charge = Charge::kChanged;
  bool by_duration = false;
  bool any_size = false;
};
constexpr std::array kPublishedRuns{
    PublishedRun{.policy = "edf", .charge = Charge::kNone, .any_size = true},
    PublishedRun{.policy = "gandiva", .charge = Charge::kArrivals, .by_duration = true},
    PublishedRun{.policy = "tiresias_dlas", .charge = Charge::kResumed, .by_duration = true},
};

PublishedRun published_run_of(std::string_view policy) {
  for (const PublishedRun& run : kPublishedRuns) {
    if (run.policy == policy) return run;
  }
  return {.policy = policy};
}

// Largest sizes that the published set-up allows below the fastest one.
struct SizeCap {
  std::string_view application;
  int size;
};
constexpr std::array kSizeCaps{SizeCap{"bert", 16}, SizeCap{"ncf", 1}};

// Steps a second by model and batch.
using SizedSpeeds = std::map<std::pair<std::string, int>, TypeSpeeds>;

Result<TypeSpeeds> speeds_of(const CsvRow& row, const std::vector<int>& sizes, const std::string& file) {
  TypeSpeeds speeds;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (row.cells[i + 1].empty() || row.cells[i + 1] == "nan") continue;
    const auto speed = csv_number(row.cells[i + 1], row.line, file);
    if (!speed) return speed.error();
    speeds.set(0, sizes[i], *speed);
  }
  return speeds;
}

// The sizes in the header: every column but the batch.
Result<std::vector<int>> sizes_in(std::string_view text, const std::string& file) {
  std::vector<int> sizes;
  std::string_view header = text.substr(0, text.find('\n'));
  if (header.ends_with('\r')) header.remove_suffix(1);
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    const std::string_view name = header.substr(0, comma);
    header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
    if (name == "global_batch_size") continue;
    const auto size = csv_count(name, 1, file);
    if (!size) return size.error();
    sizes.push_back(*size);
  }
  return sizes;
}

Result<SizedSpeeds> read_speeds(const SimOptions& options) {
  constexpr std::string_view kEnding = ".csv";
  SizedSpeeds table;
  for (const auto& [file, text] : options.profile_files) {
    if (!file.ends_with(kEnding)) continue;
    const auto sizes = sizes_in(text, file);
    if (!sizes) return sizes.error();
    std::vector<std::string> names;
    for (const int size : *sizes) names.push_back(std::to_string(size));
    std::vector<std::string_view> columns{"global_batch_size"};
    columns.insert(columns.end(), names.begin(), names.end());
    const auto rows = read_csv_columns(text, columns, file);
    if (!rows) return rows.error();
    for (const CsvRow& row : *rows) {
      const auto batch = csv_count(row.cells[0], row.line, file);
      if (!batch) return batch.error();
      auto speeds = speeds_of(row, *sizes, file);
      if (!speeds) return speeds.error();
      table[{file.substr(0, file.size() - kEnding.size()), *batch}] = *std::move(speeds);
    }
  }
  if (table.empty()) {
    return invalid_argument("--simulator elasticflow needs speeds: give --profiles a folder with a CSV file per model");
  }
  return table;
}

// The fastest size, or the largest one.
int size_limit(const TypeSpeeds& speeds, const std::string& application, bool any_size) {
  const std::vector<int> sizes = speeds.sizes();
  if (any_size) return sizes.back();
  int fastest = sizes.front();
  for (const int size : sizes) {
    if (speeds.steps_per_second(0, size) > speeds.steps_per_second(0, fastest)) fastest = size;
  }
  for (const SizeCap& cap : kSizeCaps) {
    if (cap.application == application) fastest = std::min(fastest, cap.size);
  }
  return fastest;
}

// Speeds of one step a second at the size that the user wants: steps are seconds of the declared duration.
const TypeSpeeds& seconds_at(int size, std::map<int, TypeSpeeds>& by_size) {
  TypeSpeeds& speeds = by_size[size];
  if (speeds.sizes().empty()) speeds.set(0, size, 1);
  return speeds;
}

class Jobs {
 public:
  Jobs(const SimOptions& options, const SizedSpeeds& table, PublishedRun run)
      : options_(options), table_(table), run_(run) {}

  Result<std::vector<DeadlineJob>> read() {
    if (!options_.workload_csv) {
      return invalid_argument(
          "--simulator elasticflow replays a file: give --workload FILE.csv "
          "(job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration)");
    }
    const auto rows = read_csv_columns(*options_.workload_csv, {kElasticFlowColumns.begin(), kElasticFlowColumns.end()},
                                       options_.workload);
    if (!rows) return rows.error();
    std::vector<std::pair<std::pair<double, int>, DeadlineJob>> found;
    for (const CsvRow& row : *rows) {
      auto job = read_one(row);
      if (!job) return job.error();
      found.emplace_back(std::pair(job->submitted_s, row.line), *std::move(job));
    }
    if (found.empty()) return invalid_argument("the workload " + options_.workload + " has no job");
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<DeadlineJob> jobs;
    for (auto& [key, job] : found) jobs.push_back(std::move(job));
    return jobs;
  }
  [[nodiscard]] const ClampedJobs& clamped() const { return clamped_; }

 private:
  Result<DeadlineJob> read_one(const CsvRow& row) {
    enum Cell : std::size_t { kId, kSubmit, kSteps, kModel, kDeadline, kBatch, kGpus, kDuration };
    DeadlineJob job{.name = std::string(row.cells[kId]), .application = std::string(row.cells[kModel])};
    TP_TRY(csv_new_name(names_, job.name, row.line, options_.workload));
    double duration_s = 0;
    const std::array<std::pair<double*, Cell>, 3> times{
        {{&job.submitted_s, kSubmit}, {&job.deadline_s, kDeadline}, {&duration_s, kDuration}}};
    for (const auto& [field, cell] : times) {
      const auto seconds = csv_seconds(row.cells[cell], row.line, options_.workload);
      if (!seconds) return seconds.error();
      *field = *seconds;
    }
    int steps = 0;
    int batch = 0;
    const std::array<std::pair<int*, Cell>, 3> counts{{{&steps, kSteps}, {&batch, kBatch}, {&job.size, kGpus}}};
    for (const auto& [field, cell] : counts) {
      const auto count = csv_positive(row.cells[cell], row.line, options_.workload);
      if (!count) return count.error();
      *field = *count;
    }
    job.steps = run_.by_duration ? duration_s : steps;
    if (!(job.steps > 0)) {
      return invalid_argument(options_.workload + " line " + std::to_string(row.line) +
                              ": its duration must be above 0");
    }
    TP_TRY(set_speeds(job, batch, row.line));
    return job;
  }

  Status set_speeds(DeadlineJob& job, int batch, int line) {
    const auto speeds = table_.find({job.application, batch});
    if (speeds == table_.end() || speeds->second.sizes().empty()) {
      return invalid_argument(options_.workload + " line " + std::to_string(line) + ": the profiles have no " +
                              job.application + " at batch " + std::to_string(batch));
    }
    const int wanted = std::exchange(job.size, nearest_size(speeds->second.sizes(), job.size));
    clamped_.sizes += wanted != job.size ? 1 : 0;
    job.size_max = run_.by_duration ? job.size : size_limit(speeds->second, job.application, run_.any_size);
    job.speeds = run_.by_duration ? &seconds_at(job.size, declared_) : &speeds->second;
    return ok_status();
  }

  const SimOptions& options_;
  const SizedSpeeds& table_;
  PublishedRun run_;
  std::map<int, TypeSpeeds> declared_;  // by size
  ClampedJobs clamped_;
  std::set<std::string> names_;
};

// Alone on so many slots at the fastest size within them; with less than one slot for that share of the time.
double alone_seconds(const DeadlineJob& job, double slots) {
  double best = 0;
  for (const int size : job.speeds->sizes()) {
    if (size <= job.size_max && (size <= slots || size == 1))
      best = std::max(best, job.speeds->steps_per_second(0, size));
  }
  if (!(best > 0)) best = job.speeds->steps_per_second(0, job.size) * std::min(1.0, slots / job.size);
  return job.steps / (best * std::min(1.0, slots));
}

std::int64_t deadlines_bound(const std::vector<DeadlineJob>& jobs, int slots) {
  std::vector<DueJob> due;
  for (const DeadlineJob& job : jobs) {
    double fastest = 0;
    double per_slot = 0;
    for (const int size : job.speeds->sizes()) {
      if (size > job.size_max) continue;
      const double speed = job.speeds->steps_per_second(0, size);
      fastest = std::max(fastest, speed);
      per_slot = std::max(per_slot, speed / size);
    }
    due.push_back({.submitted_s = job.submitted_s,
                   .due_s = job.deadline_s,
                   .seconds = job.steps / fastest,
                   .slot_seconds = job.steps / per_slot});
  }
  return most_in_time(due, slots);
}

}  // namespace

Result<SimReport> run_elasticflow(const SimOptions& options) {
  const auto cluster = parse_typed_cluster(options.cluster);
  if (!cluster) return cluster.error();
  if (cluster->parts.size() != 1)
    return invalid_argument("--simulator elasticflow knows one slot type: --cluster 16x4");
  const auto preset = studies::find_preset(options.policy);
  if (!preset) return preset.error();
  const auto speeds = read_speeds(options);
  if (!speeds) return speeds.error();
  const PublishedRun run = published_run_of(options.policy);
  Jobs reader(options, *speeds, run);
  const auto jobs = reader.read();
  if (!jobs) return jobs.error();

  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  const auto policy = preset->policy();
  const auto place = preset->place();
  SlotSetup setup{.account = {.policy = *policy, .place = *place, .nodes = cluster->nodes(), .types = {}},
                  .jobs = *jobs,
                  .charge = run.charge,
                  .slots = cluster->slots()};
  setup.account.stopwatch_ns = options.stopwatch_ns;
  setup.account.keep_decisions = options.keep_decisions;
  setup.account.on_progress = options.on_progress;
  setup.limit_s = jobs->front().submitted_s + options.until.value_or(kUsualEnd).to_seconds();
  setup.declared_work = options.declared_work || preset->knowledge == policies::cluster::Knowledge::kOracle;
  if (options.round) setup.slot_s = static_cast<int>(options.round->count_ms() / 1'000);
  if (setup.slot_s < 1) return invalid_argument("--round must be at least 1s");
  const auto replayed = replay_in_slots(setup);
  if (!replayed) return replayed.error();
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  SimReport report =
      report_of({.result = replayed->result,
                 .cluster = cluster->whole(),
                 .workload = options.workload,
                 .policy = options.policy,
                 .alone_seconds = [&](std::size_t row, double slots) { return alone_seconds((*jobs)[row], slots); },
                 .wall_s = static_cast<double>(end - begin) * 1e-9,
                 .deadlines_bound = deadlines_bound(*jobs, cluster->slots())});
  report.score.cluster = options.cluster;
  report.notes = reader.clamped().notes(jobs->size());
  return report;
}

}  // namespace tidepool::sim
