#include "studies/traces/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "sim/text_lines.hpp"
#include "sim/workload.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

constexpr std::array<std::string_view, 13> kNames{"name",        "tenant",   "user",       "submit_s",   "gpus",
                                                  "gpu_share",   "gpu_type", "duration_s", "deadline_s", "status",
                                                  "application", "batch",    "steps"};
struct OwnRow {
  enum Column : std::size_t {
    kName,
    kTenant,
    kUser,
    kSubmit,
    kGpus,
    kShare,
    kType,
    kDuration,
    kDeadline,
    kStatus,
    kApplication,
    kBatch,
    kSteps
  };
  static TraceStatus status(TraceRow& row);
  static TraceJob read(TraceRow& row);
};

constexpr std::array kStatuses{TraceStatus::kUnknown, TraceStatus::kSucceeded, TraceStatus::kFailed,
                               TraceStatus::kCancelled, TraceStatus::kRunning};

constexpr std::int64_t kCountMax = std::int64_t{1} << 52;

TraceStatus OwnRow::status(TraceRow& row) {
  if (row.empty(kStatus)) return TraceStatus::kUnknown;
  for (const TraceStatus status : kStatuses) {
    if (row.raw(kStatus) == to_text(status)) return status;
  }
  row.refuse("status is \"" + row.text(kStatus) + "\"; it should be succeeded, failed, cancelled, running or unknown");
  return TraceStatus::kUnknown;
}

TraceJob OwnRow::read(TraceRow& row) {
  TraceJob job{.name = row.empty(kName) ? "job-" + std::to_string(row.line() - 1) : row.text(kName)};
  if (!row.empty(kTenant)) job.tenant = row.text(kTenant);
  job.user = row.text(kUser);
  job.submit_s = row.number(kSubmit, 0, kTraceSecondsMax);
  job.gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax));
  if (!row.empty(kShare)) job.gpu_share = row.number(kShare, 0, 1);
  job.gpu_type = row.text(kType);
  job.duration_s = row.number(kDuration, 0, kTraceSecondsMax);
  if (!row.empty(kDeadline)) job.deadline_s = row.number(kDeadline, -kTraceSecondsMax, 2 * kTraceSecondsMax);
  job.status = OwnRow::status(row);
  job.application = row.text(kApplication);
  if (!row.empty(kBatch)) job.batch = row.whole(kBatch, 1, kCountMax);
  if (!row.empty(kSteps)) job.steps = row.whole(kSteps, 1, kCountMax);
  return job;
}

void put(std::string& csv, double value) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  csv.append(buffer.data(), end);
}

}  // namespace

std::string_view to_text(TraceStatus status) {
  switch (status) {
    case TraceStatus::kUnknown: return "unknown";
    case TraceStatus::kSucceeded: return "succeeded";
    case TraceStatus::kFailed: return "failed";
    case TraceStatus::kCancelled: return "cancelled";
    case TraceStatus::kRunning: return "running";
  }
  return "unknown";
}

bool is_trace_header(std::string_view line) {
  const std::vector<std::string_view> there = header_cells(line);
  const auto needed = cells_of(kNeededOfTrace);
  return std::ranges::all_of(needed, [&](std::string_view column) { return column_at(there, column).has_value(); });
}

Result<Trace> read_trace_csv(const TraceText& input) {
  const TraceColumns columns{.names = {"name?", "tenant?", "user?", "submit_s", "gpus", "gpu_share?", "gpu_type?",
                                       "duration_s", "deadline_s?", "status?", "application?", "batch?", "steps?"},
                             .strict = true};
  return read_trace_rows(input, columns, OwnRow::read);
}

std::string write_trace_csv(const std::vector<TraceJob>& jobs) {
  std::string csv;
  for (const std::string_view name : kNames) csv += (csv.empty() ? "" : ",") + std::string(name);
  csv += "\n";
  for (const TraceJob& job : jobs) {
    csv += job.name + "," + job.tenant + "," + job.user + ",";
    put(csv, job.submit_s);
    csv += "," + std::to_string(job.gpus) + ",";
    put(csv, job.gpu_share);
    csv += "," + job.gpu_type + ",";
    put(csv, job.duration_s);
    csv += ",";
    if (job.deadline_s) put(csv, *job.deadline_s);
    csv += "," + std::string(to_text(job.status)) + "," + job.application + ",";
    csv += (job.batch > 0 ? std::to_string(job.batch) : "") + "," + (job.steps > 0 ? std::to_string(job.steps) : "");
    csv += "\n";
  }
  return csv;
}

}  // namespace tidepool::sim
