// Slurm's accounting as `sacct -P` prints it: cells apart by '|', in any order, named by the first line. Steps of a job
// ("123.batch") are part of it and left out. GPUs stand in the trackable resources: "gres/gpu=4", "gres/gpu:a100=4".
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/number_text.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct SacctRow {
  enum Column : std::size_t { kId, kSubmit, kStart, kEnd, kState, kResources, kUser, kAccount, kElapsed };
  static TraceJob read(TraceRow& row);
};

struct Gpus {
  std::int64_t count = 0;
  std::string type;
};

// Nothing if one of them is counted by no whole number.
std::optional<Gpus> gpus_in(std::string_view resources) {
  std::int64_t total = 0;
  std::int64_t typed = 0;  // a site may count the total, the types, or both
  std::set<std::string, std::less<>> types;
  while (!resources.empty()) {
    const std::size_t comma = resources.find(',');
    std::string_view part = resources.substr(0, comma);
    resources.remove_prefix(comma == std::string_view::npos ? resources.size() : comma + 1);
    const std::size_t equals = part.find('=');
    if (!part.starts_with("gres/gpu") || equals == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, equals);
    if (name != "gres/gpu" && !name.starts_with("gres/gpu:")) continue;  // such as gres/gpumem
    const std::int64_t count = parse_number<std::int64_t>(part.substr(equals + 1)).value_or(-1);
    if (count < 0 || count > kTraceGpusMax) return std::nullopt;
    (name == "gres/gpu" ? total : typed) += count;
    if (name != "gres/gpu" && count > 0) types.emplace(name.substr(9));
  }
  return Gpus{.count = std::max(total, typed), .type = types.size() == 1 ? *types.begin() : std::string()};
}

TraceJob SacctRow::read(TraceRow& row) {
  TraceJob job{.name = row.text(kId), .user = row.text(kUser)};
  if (job.name.find('.') != std::string::npos) row.leave_out("is a step of a job");
  const std::optional<Gpus> gpus = gpus_in(row.raw(kResources));
  if (!gpus) {
    row.refuse("the GPUs of \"" + std::string(row.raw(kResources).substr(0, 60)) +
               "\" should be counted by a whole number from 0 to " + std::to_string(kTraceGpusMax));
    return job;
  }
  if (gpus->count == 0) row.leave_out("asks for no GPU");
  const auto unknown = [&](std::size_t column) {
    return row.empty(column) || row.raw(column) == "Unknown" || row.raw(column) == "None";
  };
  if (unknown(kStart) || (unknown(kEnd) && row.empty(kElapsed))) row.leave_out("never ran, or has not ended");
  if (!row.left_out().empty()) return job;
  if (!row.empty(kAccount)) job.tenant = row.text(kAccount);
  job.gpus = static_cast<int>(std::min<std::int64_t>(gpus->count, kTraceGpusMax + 1));  // more is refused
  job.gpu_type = gpus->type;
  job.submit_s = row.time(kSubmit);
  job.duration_s = row.empty(kElapsed) ? row.time(kEnd) - row.time(kStart) : row.number(kElapsed, 0, kTraceSecondsMax);
  if (job.duration_s <= 0) row.leave_out("never ran, or has not ended");
  job.status = status_of(row.raw(kState));
  return job;
}

}  // namespace

Result<Trace> import_sacct(const TraceText& input) {
  return read_trace_rows(
      input,
      {.names = {"JobID", "Submit", "Start", "End", "State", "AllocTRES|ReqTRES", "User?", "Account?", "ElapsedRaw?"},
       .separator = '|'},
      SacctRow::read);
}

}  // namespace tidepool::sim
