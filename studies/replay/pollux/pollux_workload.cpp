#include "studies/replay/pollux/pollux_workload.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "studies/replay/csv_columns.hpp"

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

}  // namespace

Result<std::vector<PolluxRow>> read_pollux_rows(const SimOptions& options) {
  if (!options.workload_csv) {
    return invalid_argument(
        "measured profiles go with a workload of a file: give --workload FILE.csv (name,time,application,"
        "num_replicas,batch_size)");
  }
  const auto rows = read_csv_columns(*options.workload_csv,
                                     {"name", "time", "application", "num_replicas", "batch_size"}, options.workload);
  if (!rows) return rows.error();
  std::vector<PolluxRow> found;
  std::set<std::string> names;
  for (const CsvRow& row : *rows) {
    PolluxRow job{.line = row.line, .name = std::string(row.cells[0]), .application = std::string(row.cells[2])};
    TP_TRY(csv_new_name(names, job.name, row.line, options.workload));
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
  std::sort(found.begin(), found.end(), [](const PolluxRow& a, const PolluxRow& b) {
    return std::pair(a.submitted_s, a.line) < std::pair(b.submitted_s, b.line);
  });
  return found;
}

Result<const MeasuredApplication*> PolluxMeasurements::application(const std::string& name) {
  if (const auto found = applications_.find(name); found != applications_.end()) return &found->second;
  const auto files = profiles_.find(name);
  if (files == profiles_.end()) {
    return invalid_argument("the profiles have no application called \"" + name +
                            "\"; give --profiles a folder with a folder per application");
  }
  auto read = MeasuredApplication::read(name, files->second, exception_of(name).local_batch_cap);
  if (!read) return read.error();
  return &applications_.emplace(name, *std::move(read)).first->second;
}

const OracleSpeed& PolluxMeasurements::oracle(const MeasuredApplication& application, int batch) {
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

int fixed_batch_of(const std::string& application) {
  return exception_of(application).fixed_batch;
}

int size_most(const MeasuredApplication& application, int batch) {
  const int size = std::max(1, batch / application.local_batch_min());
  const int cap = exception_of(application.name()).size_cap;
  return cap > 0 ? std::min(size, cap) : size;
}

Status clamp_to_profile(PolluxRow& row, PolluxMeasurements& measurements, ClampedJobs& clamped) {
  const auto application = measurements.application(row.application);
  if (!application) return application.error();
  const MeasuredApplication& measured = **application;
  const int batch = std::exchange(row.batch, std::clamp(row.batch, measured.initial_batch(), measured.batch_max()));
  clamped.batches += batch != row.batch ? 1 : 0;
  const int size = std::exchange(row.size, std::min(row.size, size_most(measured, row.batch)));
  clamped.sizes += size != row.size ? 1 : 0;
  return ok_status();
}

}  // namespace tidepool::sim
