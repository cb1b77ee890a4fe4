#include "studies/replay/gavel/gavel_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/number_text.hpp"
#include "sim/text_lines.hpp"
#include "studies/baselines/registry.hpp"
#include "studies/replay/clamped_jobs.hpp"
#include "studies/replay/csv_columns.hpp"
#include "studies/replay/gavel/lease_rounds.hpp"
#include "studies/replay/jct_bound.hpp"
#include "studies/replay/typed_cluster.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

// By "('job type', workers)", as the table spells it.
using SpeedTable = std::map<std::string, TypeSpeeds>;

std::string key_of(std::string_view job_type, int size) {
  return "('" + std::string(job_type) + "', " + std::to_string(size) + ")";
}

// The number of workers in such a key; 0 = it is none.
int size_in(const std::string& key) {
  const std::size_t comma = key.rfind(", ");
  if (!key.starts_with("('") || !key.ends_with(")") || comma == std::string::npos) return 0;
  const std::string_view number = std::string_view(key).substr(comma + 2, key.size() - 1 - (comma + 2));
  return parse_number<int>(number).value_or(0);
}

Result<SpeedTable> read_speeds(const SimOptions& options, const TypedCluster& cluster) {
  if (options.profile_files.size() != 1) {
    return invalid_argument("--simulator gavel reads one table of speeds: give --profiles FILE.json");
  }
  const auto& [file, text] = *options.profile_files.begin();
  const json table = json::parse(text, nullptr, false);
  if (!table.is_object()) return invalid_argument(file + " is no JSON object of speeds by slot type");
  SpeedTable speeds;
  for (std::size_t type = 0; type < cluster.parts.size(); ++type) {
    const std::string& name = cluster.parts[type].type;
    if (!table.contains(name) || !table.at(name).is_object()) {
      return invalid_argument(file + " knows no slot type called \"" + name +
                              "\"; name the cluster's types as it does");
    }
    for (const auto& [key, entry] : table.at(name).items()) {
      const int size = size_in(key);
      const bool alone = entry.is_object() && entry.contains("null") && entry.at("null").is_number();
      if (size < 1 || !alone) {
        return invalid_argument(file + ": \"" + key + "\" of " + name + " has no speed alone (\"null\": a number)");
      }
      // A job of this kind and size; a kind is measured at several sizes, each a job of its own to Gavel.
      speeds[key].set(static_cast<int>(type), size, entry.at("null").get<double>());
    }
  }
  return speeds;
}

constexpr std::size_t kTraceCells = 10;

// Jobs of a trace, in its order.
class TraceReader {
 public:
  TraceReader(const SimOptions& options, const SpeedTable& speeds) : options_(options), speeds_(speeds) {}

  Result<std::vector<LeaseJob>> read() {
    if (!options_.workload_csv) {
      return invalid_argument("--simulator gavel replays a file: give --workload FILE.trace (tab separated)");
    }
    std::vector<LeaseJob> jobs;
    for (std::string_view rest = *options_.workload_csv; !rest.empty();) {
      ++number_;
      const std::string_view line = take_line(rest);
      if (line.empty()) continue;
      auto job = read_job(line);
      if (!job) return job.error();
      if (!jobs.empty() && job->submitted_s < jobs.back().submitted_s) {
        return invalid_argument(place() + "arrives before the line above it; order the trace by arrival");
      }
      jobs.push_back(*std::move(job));
    }
    if (jobs.empty()) return invalid_argument("the workload " + options_.workload + " has no job");
    return jobs;
  }
  [[nodiscard]] const ClampedJobs& clamped() const { return clamped_; }

 private:
  [[nodiscard]] std::string place() const { return options_.workload + " line " + std::to_string(number_) + ": "; }

  Result<LeaseJob> read_job(std::string_view line) {
    const std::string& file = options_.workload;
    const std::vector<std::string_view> cells = cells_of(line, '\t');
    if (cells.size() != kTraceCells) {
      return invalid_argument(place() + std::to_string(cells.size()) + " cells between tabs, a Gavel trace has 10");
    }
    const auto steps = csv_count(cells[5], number_, file);
    const auto size = csv_count(cells[6], number_, file);
    const auto weight = csv_number(cells[7], number_, file);
    const auto submitted = csv_seconds(cells[9], number_, file);
    for (const Error* error : {steps ? nullptr : &steps.error(), size ? nullptr : &size.error(),
                               weight ? nullptr : &weight.error(), submitted ? nullptr : &submitted.error()}) {
      if (error != nullptr) return *error;
    }
    if (*steps < 1 || *size < 1 || !(*weight > 0)) {
      return invalid_argument(place() + "steps, workers and weight are above 0, and no job arrives before 0");
    }
    LeaseJob job{.name = "job-" + std::to_string(number_ - 1), .application = std::string(cells[0])};
    job.submitted_s = *submitted;
    job.steps = *steps;
    job.size = *size;
    job.weight = *weight;
    TP_TRY(set_speeds(job));
    return job;
  }

  // At the nearest size at which the table has a speed for it on a type of this cluster.
  Status set_speeds(LeaseJob& job) {
    const std::string begin = "('" + job.application + "', ";
    std::vector<int> sizes;
    for (auto entry = speeds_.lower_bound(begin); entry != speeds_.end() && entry->first.starts_with(begin); ++entry) {
      if (!entry->second.sizes().empty()) sizes.push_back(size_in(entry->first));
    }
    std::ranges::sort(sizes);
    const int wanted = job.size;
    if (!sizes.empty()) job.size = nearest_size(sizes, wanted);
    const auto found = speeds_.find(key_of(job.application, job.size));
    if (found == speeds_.end()) {
      return invalid_argument(place() + "the table of speeds has no " + key_of(job.application, wanted));
    }
    clamped_.sizes += job.size != wanted ? 1 : 0;
    job.speeds = &found->second;
    return ok_status();
  }

  const SimOptions& options_;
  const SpeedTable& speeds_;
  int number_ = 0;  // of the line
  ClampedJobs clamped_;
};

// Alone with so many slots of the cluster's mix, less than its size standing for that share of the time.
double alone_seconds(const LeaseJob& job, const TypedCluster& cluster, double slots) {
  double speed = 0;
  for (std::size_t type = 0; type < cluster.parts.size(); ++type) {
    speed += job.speeds->steps_per_second(static_cast<int>(type), job.size) * cluster.parts[type].shape.slots() /
             cluster.slots();
  }
  return static_cast<double>(job.steps) / (speed * std::min(1.0, slots / job.size));
}

// Every type's slots in one pool, each worth as much as its mean speed beside that of the first: whatever the exchange
// rates, a job needs at least what it takes of the type on which that is least.
double jct_bound(const std::vector<LeaseJob>& jobs, const TypedCluster& cluster) {
  const auto speed = [](const LeaseJob& job, std::size_t type) {
    return job.speeds->steps_per_second(static_cast<int>(type), job.size);
  };
  std::vector<double> rates;
  double pool = 0;
  for (std::size_t type = 0; type < cluster.parts.size(); ++type) {
    double own = 0;
    double first = 0;
    for (const LeaseJob& job : jobs) {
      if (!(speed(job, 0) > 0)) continue;
      own += speed(job, type) / speed(job, 0);
      first += 1;
    }
    rates.push_back(own > 0 ? own / first : 1);
    pool += rates.back() * cluster.parts[type].shape.slots();
  }
  std::vector<NeedyJob> needy;
  for (const LeaseJob& job : jobs) {
    LeastNeed need{.seconds = HUGE_VAL, .slot_seconds = HUGE_VAL};
    for (std::size_t type = 0; type < rates.size(); ++type) {
      if (!(speed(job, type) > 0) || job.size > cluster.parts[type].shape.slots()) continue;
      const double seconds = static_cast<double>(job.steps) / speed(job, type);
      need.seconds = std::min(need.seconds, seconds);
      need.slot_seconds = std::min(need.slot_seconds, seconds * job.size * rates[type] * cluster.slots() / pool);
    }
    if (!std::isfinite(need.seconds)) continue;  // it runs nowhere, and so it never ends
    needy.push_back({.submitted_s = job.submitted_s, .ready_s = job.submitted_s, .need = need});
  }
  return jct_bounds(needy, cluster.slots()).best_s();
}

}  // namespace

Result<SimReport> run_gavel(const SimOptions& options) {
  const auto cluster = parse_typed_cluster(options.cluster);
  if (!cluster) return cluster.error();
  const auto preset = studies::find_preset(options.policy);
  if (!preset) return preset.error();
  const auto speeds = read_speeds(options, *cluster);
  if (!speeds) return speeds.error();
  TraceReader reader(options, *speeds);
  const auto jobs = reader.read();
  if (!jobs) return jobs.error();

  const std::int64_t begin = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  const auto policy = preset->policy();
  const auto place = preset->place();
  ReplayAccount::Setup account{
      .policy = *policy, .place = *place, .nodes = cluster->nodes(), .types = cluster->types()};
  account.stopwatch_ns = options.stopwatch_ns;
  account.keep_decisions = options.keep_decisions;
  account.on_progress = options.on_progress;
  LeaseSetup setup{.account = account,
                   .jobs = *jobs,
                   .limit_s = jobs->front().submitted_s + options.until.value_or(kUsualEnd).to_seconds()};
  if (options.round) setup.round_s = options.round->to_seconds();
  if (setup.round_s < 1) return invalid_argument("--round must be at least 1s");
  setup.declared_work = options.declared_work || preset->knowledge == policies::cluster::Knowledge::kOracle;
  const auto result = replay_in_leases(setup);
  if (!result) return result.error();
  const std::int64_t end = options.stopwatch_ns ? options.stopwatch_ns() : 0;
  SimReport report = report_of(
      {.result = *result,
       .cluster = cluster->whole(),
       .workload = options.workload,
       .policy = options.policy,
       .alone_seconds = [&](std::size_t row, double slots) { return alone_seconds((*jobs)[row], *cluster, slots); },
       .wall_s = static_cast<double>(end - begin) * 1e-9,
       .jct_bound_s = jct_bound(*jobs, *cluster)});
  report.score.cluster = options.cluster;
  report.notes = reader.clamped().notes(jobs->size());
  return report;
}

}  // namespace tidepool::sim
