// A daemon's own history: its events, one JSON object a line, as `schedctl events -o json` prints them. A job that
// changed its size is written down as one that held the size it preferred for the same GPU time. A worker counts as one
// GPU, because events do not tell how many it holds; `schedctl trace export` asks the daemon and knows.
#include <map>

#include <nlohmann/json.hpp>

#include "schedulerd/sim/trace/importers.hpp"
#include "schedulerd/sim/trace/trace_rows.hpp"

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
  running.worker_seconds += running.size * (at - running.since);
  running.since = at;
  running.size = size;
}

int count_of(const json& data, const char* field) {
  const auto found = data.find(field);
  return found != data.end() && found->is_number_integer() ? found->get<int>() : 0;
}

std::string text_of(const json& data, const char* field) {
  const auto found = data.find(field);
  return found != data.end() && found->is_string() ? found->get<std::string>() : "";
}

// Why the line is no event; empty = it is one, and it has been counted.
std::string take_event(const json& event, std::map<std::string, Running>& jobs) {
  if (!event.is_object()) return "it is no JSON object";
  const auto at = seconds_of(text_of(event, "at"));
  const std::string type = text_of(event, "type");
  const std::string id = text_of(event, "job");
  if (!at || type.empty()) return "an event has a time `at` and a `type`";
  if (id.empty()) return "";
  const json data = event.contains("data") && event.at("data").is_object() ? event.at("data") : json::object();
  if (type == "job.submitted") {
    Running& running = jobs[id];
    running.job.name = id;
    running.job.application = text_of(data, "name");
    if (std::string tenant = text_of(event, "tenant"); !tenant.empty()) running.job.tenant = std::move(tenant);
    running.job.submit_s = *at;
    running.job.gpus = std::max(1, count_of(data, "preferred"));
    running.job.status = TraceStatus::kRunning;
    return "";
  }
  const auto known = jobs.find(id);
  if (known == jobs.end()) return "";  // submitted before the events began
  Running& running = known->second;
  if (type == "generation.switched") hold(running, *at, count_of(data, "to_size"));
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
  Trace trace;
  std::map<std::string, Running> jobs;
  int line = 0;
  for (std::string_view rest = input.text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++line;
    if (text.empty()) continue;
    const std::string fault = take_event(json::parse(text, nullptr, false), jobs);
    if (fault.empty()) continue;
    const std::string what = input.file + " line " + std::to_string(line) + ": " + fault;
    if (!input.skip_bad) return invalid_argument(what);
    if (++trace.bad_count <= static_cast<std::int64_t>(kBadLinesKept)) trace.bad_lines.push_back(what);
  }
  for (auto& [id, running] : jobs) {
    running.job.duration_s = running.worker_seconds / running.job.gpus;
    if (!running.ended || running.job.duration_s <= 0) {
      ++trace.left_out["never ran, or has not ended"];
    } else {
      trace.jobs.push_back(std::move(running.job));
    }
  }
  TP_TRY(settle(trace, input.file));
  return trace;
}

}  // namespace tidepool::sim
