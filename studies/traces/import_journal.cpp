// A daemon's own history: its events, one JSON object a line, as `schedctl events -o json` prints them. A job that
// changed its size is written down as one that held the size it preferred for the same GPU time. A worker counts as one
// GPU, because events do not tell how many it holds; `schedctl trace export` asks the daemon and knows.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "sim/text_lines.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

struct Running {
  TraceJob job;
  int size = 0;
  double since = 0;
  double worker_seconds = 0;
  bool ended = false;
};

void hold(Running& running, double at, int size) {
  running.worker_seconds += running.size * std::max(0.0, at - running.since);  // a clock may be set back
  running.since = at;
  running.size = size;
}

// 0 where it is not told; nothing where it is no count.
std::optional<int> count_of(const json& data, const char* field) {
  const auto found = data.find(field);
  if (found == data.end() || found->is_null()) return 0;
  const double count = found->is_number_integer() ? found->get<double>() : -1;
  return count >= 0 && count <= kTraceGpusMax ? std::optional(static_cast<int>(count)) : std::nullopt;
}

std::string no_count(const char* field) {
  return std::string("`") + field + "` should be a whole number from 0 to " + std::to_string(kTraceGpusMax);
}

std::string text_of(const json& data, const char* field) {
  const auto found = data.find(field);
  return found != data.end() && found->is_string() ? found->get<std::string>() : "";
}

// Why the line is no event; empty = it is one, and it has been counted.
std::string take_event(const json& event, std::map<std::string, Running>& jobs, std::set<std::string>& earlier) {
  if (!event.is_object()) return "it is no JSON object";
  const auto at = seconds_of(text_of(event, "at"));
  const std::string type = text_of(event, "type");
  const std::string id = text_of(event, "job");
  if (!at || type.empty()) return "an event has a time `at` and a `type`";
  if (id.empty()) return "";
  const json data = event.contains("data") && event.at("data").is_object() ? event.at("data") : json::object();
  if (type == "job.submitted") {
    const auto preferred = count_of(data, "preferred");
    if (!preferred) return no_count("preferred");
    Running& running = jobs[id];
    running.job.name = id;
    running.job.application = text_of(data, "name");
    if (std::string tenant = text_of(event, "tenant"); !tenant.empty()) running.job.tenant = std::move(tenant);
    running.job.submit_s = *at;
    running.job.gpus = std::max(1, *preferred);
    running.job.status = TraceStatus::kRunning;
    return "";
  }
  const auto known = jobs.find(id);
  if (known == jobs.end()) {
    earlier.insert(id);
    return "";
  }
  Running& running = known->second;
  if (type == "generation.switched") {
    const auto size = count_of(data, "to_size");
    if (!size) return no_count("to_size");
    hold(running, *at, *size);
  }
  if (type == "job.suspended" || type == "job.parked") hold(running, *at, 0);
  if (type == "job.finished") {
    hold(running, *at, 0);
    running.job.status = status_of(text_of(data, "state"));
    running.ended = true;
  }
  return "";
}

}  // namespace

Result<Trace> import_journal(const TraceText& input) {
  TraceIntake intake(input);
  std::map<std::string, Running> jobs;
  std::set<std::string> earlier;  // jobs of which there are events, but not the one of their submission
  std::string_view rest = input.text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view text = take_line(rest);
    if (text.empty()) continue;
    std::string fault = take_event(json::parse(text, nullptr, false), jobs, earlier);
    if (fault.empty()) continue;
    TP_TRY(
        intake.take({.place = "line " + std::to_string(line), .refused = std::move(fault), .left_out = {}, .job = {}}));
  }
  for (const std::string& id : earlier) {
    TP_TRY(intake.take({.place = id, .refused = {}, .left_out = "was submitted before the events begin", .job = {}}));
  }
  for (auto& [id, running] : jobs) {
    running.job.duration_s = running.worker_seconds / running.job.gpus;
    const bool counts = running.ended && running.job.duration_s > 0;
    TP_TRY(intake.take({.place = id,
                        .refused = {},
                        .left_out = counts ? "" : "never ran, or has not ended",
                        .job = std::move(running.job)}));
  }
  return std::move(intake).finish();
}

}  // namespace tidepool::sim
