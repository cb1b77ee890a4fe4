// Microsoft's Philly (Jeon et al., USENIX ATC 2019): cluster_job_log as published, a JSON array of jobs with their
// attempts, or the extract that came with Pollux' artifact (timestamp,duration,num_gpus,gpu_time,cluster).
#include <algorithm>

#include <nlohmann/json.hpp>

#include "schedulerd/sim/trace/importers.hpp"
#include "schedulerd/sim/trace/trace_rows.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

enum Column : std::size_t { kTimestamp, kDuration, kGpus, kCluster };

TraceJob read_row(TraceRow& row) {
  return {.name = "philly-" + std::to_string(row.line() - 1),
          .tenant = row.text(kCluster),
          .submit_s = row.time(kTimestamp),
          .gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax)),
          .duration_s = row.number(kDuration, 0, kTraceSecondsMax)};
}

std::string text_of(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int gpus_of(const json& attempt) {
  std::size_t gpus = 0;
  if (!attempt.is_object() || !attempt.contains("detail") || !attempt.at("detail").is_array()) return 0;
  for (const json& machine : attempt.at("detail")) {
    if (machine.is_object() && machine.contains("gpus")) gpus += machine.at("gpus").size();
  }
  return static_cast<int>(std::min<std::size_t>(gpus, kTraceGpusMax));
}

// A job that was tried several times ran for as long as its attempts together, at the size of the largest.
TraceJob read_object(const json& object, std::string& refused, std::string& left_out) {
  TraceJob job{.name = text_of(object, "jobid"), .tenant = text_of(object, "vc"), .user = text_of(object, "user")};
  const auto submitted = seconds_of(text_of(object, "submitted_time"));
  if (!submitted) refused = "submitted_time is no time such as 2017-10-09 07:01:55";
  job.submit_s = submitted.value_or(0);
  job.status = status_of(text_of(object, "status"));
  job.gpus = 0;
  if (object.contains("attempts") && object.at("attempts").is_array()) {
    for (const json& attempt : object.at("attempts")) {
      if (!attempt.is_object()) continue;
      const auto start = seconds_of(text_of(attempt, "start_time"));
      const auto end = seconds_of(text_of(attempt, "end_time"));
      if (start && end && *end > *start) job.duration_s += *end - *start;
      job.gpus = std::max(job.gpus, gpus_of(attempt));
    }
  }
  if (job.gpus == 0) left_out = "asks for no GPU";
  if (job.duration_s <= 0) left_out = "never ran, or has not ended";
  return job;
}

Result<Trace> read_log(const TraceText& input) {
  const json log = json::parse(input.text, nullptr, false);
  if (!log.is_array()) return invalid_argument(input.file + " is no JSON array of jobs");
  Trace trace;
  for (std::size_t i = 0; i < log.size(); ++i) {
    std::string refused;
    std::string left_out;
    TraceJob job = log[i].is_object() ? read_object(log[i], refused, left_out) : TraceJob{};
    if (!log[i].is_object()) refused = "it is no object";
    if (refused.empty() && job.name.empty()) refused = "it has no jobid";
    if (!refused.empty()) {
      const std::string what = input.file + " job " + std::to_string(i + 1) + ": " + refused;
      if (!input.skip_bad) return invalid_argument(what);
      if (++trace.bad_count <= static_cast<std::int64_t>(kBadLinesKept)) trace.bad_lines.push_back(what);
    } else if (!left_out.empty()) {
      ++trace.left_out[left_out];
    } else {
      trace.jobs.push_back(std::move(job));
    }
  }
  TP_TRY(settle(trace, input.file));
  return trace;
}

}  // namespace

Result<Trace> import_philly(const TraceText& input) {
  if (input.text.starts_with('[')) return read_log(input);
  return read_trace_rows(input, {.names = {"timestamp", "duration", "num_gpus", "cluster"}}, read_row);
}

}  // namespace tidepool::sim
