// Microsoft's Philly (Jeon et al., USENIX ATC 2019): cluster_job_log as published, a JSON array of jobs with their
// attempts, or the extract that came with Pollux' artifact (timestamp,duration,num_gpus,gpu_time,cluster).
#include <algorithm>

#include <nlohmann/json.hpp>

#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

struct PhillyRow {
  enum Column : std::size_t { kTimestamp, kDuration, kGpus, kCluster };
  static TraceJob read(TraceRow& row);
};

TraceJob PhillyRow::read(TraceRow& row) {
  return {.name = "philly-" + std::to_string(row.line() - 1),
          .tenant = row.text(kCluster),
          .submit_s = row.time(kTimestamp),
          .gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax)),
          .duration_s = row.number(kDuration, 0, kTraceSecondsMax)};
}

std::string philly_text(const json& object, const char* field) {
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
TraceEntry read_object(const json& object, std::string place) {
  TraceEntry entry{.place = std::move(place)};
  if (!object.is_object()) {
    entry.refused = "it is no object";
    return entry;
  }
  TraceJob& job = entry.job;
  job = {
      .name = philly_text(object, "jobid"), .tenant = philly_text(object, "vc"), .user = philly_text(object, "user")};
  const auto submitted = seconds_of(philly_text(object, "submitted_time"));
  if (!submitted) entry.refused = "submitted_time is no time such as 2017-10-09 07:01:55";
  if (job.name.empty()) entry.refused = "it has no jobid";
  job.submit_s = submitted.value_or(0);
  job.status = status_of(philly_text(object, "status"));
  job.gpus = 0;
  if (object.contains("attempts") && object.at("attempts").is_array()) {
    for (const json& attempt : object.at("attempts")) {
      if (!attempt.is_object()) continue;
      const auto start = seconds_of(philly_text(attempt, "start_time"));
      const auto end = seconds_of(philly_text(attempt, "end_time"));
      if (start && end && *end > *start) job.duration_s += *end - *start;
      job.gpus = std::max(job.gpus, gpus_of(attempt));
    }
  }
  if (job.gpus == 0) entry.left_out = "asks for no GPU";
  if (job.duration_s <= 0) entry.left_out = "never ran, or has not ended";
  return entry;
}

Result<Trace> read_log(const TraceText& input) {
  const json log = json::parse(input.text, nullptr, false);
  if (!log.is_array()) return invalid_argument(input.file + " begins like a JSON array of jobs and is none");
  TraceIntake intake(input);
  for (std::size_t i = 0; i < log.size(); ++i) {
    TP_TRY(intake.take(read_object(log[i], "job " + std::to_string(i + 1))));
  }
  return std::move(intake).finish();
}

}  // namespace

Result<Trace> import_philly(const TraceText& input) {
  const std::size_t begin = input.text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && input.text[begin] == '[') return read_log(input);
  return read_trace_rows(input, {.names = {"timestamp", "duration", "num_gpus", "cluster"}}, PhillyRow::read);
}

}  // namespace tidepool::sim
