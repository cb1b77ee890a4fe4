#include "schedctl/trace/trace.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/timestamp.hpp"
#include "schedctl/progress.hpp"
#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr int kProcess = 1;
enum Lane { kJob = 1, kGenerations, kSwitches, kBuilds, kSteps, kHappenings };
constexpr std::array<std::pair<Lane, const char*>, 6> kLanes{{{kJob, "job"},
                                                              {kGenerations, "generations"},
                                                              {kSwitches, "pauses of switches"},
                                                              {kBuilds, "communicators built"},
                                                              {kSteps, "steps"},
                                                              {kHappenings, "what happened"}}};

bool is_instant(const std::string& type) {
  constexpr std::array<std::string_view, 21> kInstants = {
      "job.checkpoint_failed", "job.resize_requested", "job.changed",         "job.parked",   "job.checkpointed",
      "job.restored",          "worker.started",       "worker.stuck",        "worker.lost",  "worker.straggling",
      "worker.replaced",       "decision.made",        "data.epoch_audited",  "job.finished", "job.rebalanced",
      "job.state_brought",     "job.state_left",       "job.notice_answered", "job.requeued", "job.resume_requested",
      "worker.killed"};
  return std::find(kInstants.begin(), kInstants.end(), type) != kInstants.end();
}

class TraceWriter {
 public:
  TraceWriter(std::int64_t zero_us, const std::string& name) : zero_us_(zero_us) {
    events_.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", kProcess}, {"args", {{"name", name}}}});
    for (const auto& [lane, title] : kLanes) {
      events_.push_back(
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", title}}}});
    }
  }

  // Ends what the lane shows and goes on with this; an empty name leaves the lane empty from here on.
  void go_on_with(Lane lane, std::int64_t at_us, const std::string& name, json args = json::object()) {
    Open& open = open_[lane];
    if (!open.name.empty()) add_span(lane, open.since_us, at_us, open.name, std::move(open.args));
    open = {name, at_us, std::move(args)};
  }
  // It begins where the one before it in the lane has ended: what ended late may be told later than what follows on it
  // began. A clock that was set back makes it empty.
  void add_span(Lane lane, std::int64_t from_us, std::int64_t to_us, const std::string& name, json args) {
    std::int64_t& free_from = free_from_[lane];
    const std::int64_t begin = std::max(since_start(from_us), free_from);
    const std::int64_t length = std::max<std::int64_t>(0, since_start(to_us) - begin);
    free_from = begin + length;
    events_.push_back({{"ph", "X"},
                       {"name", name},
                       {"cat", "job"},
                       {"pid", kProcess},
                       {"tid", lane},
                       {"ts", begin},
                       {"dur", length},
                       {"args", std::move(args)}});
  }
  void add_instant(std::int64_t at_us, const std::string& name, json args) {
    events_.push_back({{"ph", "i"},
                       {"s", "t"},
                       {"name", name},
                       {"cat", "event"},
                       {"pid", kProcess},
                       {"tid", kHappenings},
                       {"ts", since_start(at_us)},
                       {"args", std::move(args)}});
  }
  // `series`: numbers by name; what is not yet known, or not finite, is null and left out.
  void add_counter(std::int64_t at_us, const std::string& name, const json& series) {
    json numbers = json::object();
    for (const auto& [key, value] : series.items()) {
      if (value.is_number()) numbers[key] = value;
    }
    if (numbers.empty()) return;
    events_.push_back(
        {{"ph", "C"}, {"name", name}, {"pid", kProcess}, {"ts", since_start(at_us)}, {"args", std::move(numbers)}});
  }
  [[nodiscard]] json finish(std::int64_t end_us) && {
    for (const Lane lane : {kJob, kGenerations}) go_on_with(lane, end_us, "");
    return std::move(events_);
  }

 private:
  struct Open {
    std::string name;
    std::int64_t since_us = 0;
    json args;
  };
  [[nodiscard]] std::int64_t since_start(std::int64_t at_us) const {
    return std::max<std::int64_t>(0, at_us - zero_us_);
  }

  std::int64_t zero_us_;
  json events_ = json::array();
  std::map<Lane, Open> open_;
  std::map<Lane, std::int64_t> free_from_;
};

json data_of(const json& event) {
  return event.contains("data") && event.at("data").is_object() ? event.at("data") : json::object();
}

std::int64_t micros_in(const json& data, const char* pointer) {
  return static_cast<std::int64_t>(number_at(data, pointer).value_or(0) * 1000);
}

// One switch: the pause ends with the first step of the new generation, the building lies before the pause.
void add_switch(TraceWriter& trace, std::int64_t at_us, const json& data) {
  const std::string number = whole(number_at(data, "/generation").value_or(0));
  const std::int64_t stall_us = micros_in(data, "/stall_ms");
  const std::int64_t build_us = micros_in(data, "/build_ms");
  const std::string kind = text_at(data, "/kind", "switch");
  trace.add_span(kSwitches, at_us - stall_us, at_us, kind + " to generation " + number, data);
  if (build_us > 0) {
    trace.add_span(kBuilds, at_us - stall_us - build_us, at_us - stall_us, "generation " + number, data);
  }
  trace.go_on_with(kGenerations, at_us,
                   "generation " + number + ": " + count_of(number_at(data, "/to_size").value_or(0), "worker"), data);
  trace.go_on_with(kJob, at_us, "training");
}

void add_event(TraceWriter& trace, const json& event, std::int64_t at_us) {
  const std::string type = text_at(event, "/type");
  const json data = data_of(event);
  if (type == "job.submitted" || type == "job.resume_requested") {
    trace.go_on_with(kJob, at_us, "waiting");
  } else if (type == "job.suspended") {
    trace.go_on_with(kGenerations, at_us, "");
    trace.go_on_with(kJob, at_us, "suspended");
  } else if (type == "job.parked") {
    trace.go_on_with(kGenerations, at_us, "");
    trace.go_on_with(kJob, at_us, "suspending");
  } else if (type == "generation.switched") {
    add_switch(trace, at_us, data);
  } else if (type == "job.finished") {
    trace.go_on_with(kGenerations, at_us, "");
    trace.go_on_with(kJob, at_us, "");
  }
  if (!is_instant(type)) return;
  const std::string words = event_sentence(event, "");
  trace.add_instant(at_us, words.empty() ? type : words, data);
}

// The first worker of a start ends the waiting; later ones come while others train.
bool begins_to_start(const json& event, bool& idle) {
  const std::string type = text_at(event, "/type");
  constexpr std::array<std::string_view, 5> kWithoutWorkers = {"job.submitted", "job.suspended", "job.requeued",
                                                               "job.parked", "job.resume_requested"};
  if (std::find(kWithoutWorkers.begin(), kWithoutWorkers.end(), type) != kWithoutWorkers.end()) idle = true;
  if (type == "generation.switched") idle = false;
  return type == "worker.started" && std::exchange(idle, false);
}

json by_rank(const json& values) {
  json series = json::object();
  for (std::size_t rank = 0; rank < values.size(); ++rank) series["rank " + std::to_string(rank)] = values[rank];
  return series;
}

// Where the steps that a measurement speaks of ended.
struct Measured {
  std::int64_t at_us = 0;
  double step = 0;
};

// The steps since the measurement before, as long as they took: between the two the job may have waited.
void add_steps(TraceWriter& trace, const json& point, const Measured& before, const Measured& here) {
  const double steps = here.step - before.step;
  const double step_ms = number_at(point, "/step_ms").value_or(0);
  if (steps < 1 || step_ms <= 0) return;  // it went on from an older state
  const auto took_us = static_cast<std::int64_t>(steps * step_ms * 1000);
  const std::string name =
      steps > 1 ? "steps " + whole(before.step + 1) + " to " + whole(here.step) : "step " + whole(here.step);
  trace.add_span(kSteps, std::max(before.at_us, here.at_us - took_us), here.at_us, name,
                 {{"size", point.value("size", json())},
                  {"generation", point.value("generation", json())},
                  {"step_ms", step_ms},
                  {"global_batch", point.value("global_batch", json())}});
}

void add_points(TraceWriter& trace, const json& points, std::int64_t zero_us) {
  Measured before{.at_us = zero_us};
  for (const auto& point : points) {
    const auto at = micros_of(text_at(point, "/at"));
    const auto step = number_at(point, "/step");
    if (!at || !step) continue;
    const Measured here{.at_us = *at, .step = *step};
    add_steps(trace, point, before, here);
    before = here;
    for (const char* name : {"step", "size", "samples_per_second", "loss"}) {
      trace.add_counter(*at, name, {{name, point.value(name, json())}});
    }
    trace.add_counter(*at, "compute_ms", by_rank(list_at(point, "/compute_ms")));
  }
}

std::int64_t newest_of(const json& list, std::int64_t newest) {
  for (const auto& one : list) newest = std::max(newest, micros_of(text_at(one, "/at")).value_or(newest));
  return newest;
}

}  // namespace

json chrome_trace(const TraceInput& input) {
  const std::string name = text_at(input.job, "/id") + " " + text_at(input.job, "/name");
  const auto zero = micros_of(text_at(input.job, "/submitted_at")).value_or(0);
  TraceWriter trace(zero, name);
  bool idle = true;
  for (const auto& event : input.events) {
    const auto at = micros_of(text_at(event, "/at"));
    if (!at) continue;
    if (begins_to_start(event, idle)) trace.go_on_with(kJob, *at, "starting");
    add_event(trace, event, *at);
  }
  add_points(trace, input.points, zero);
  const std::int64_t end = newest_of(input.points, newest_of(input.events, zero));  // of a job that lives: so far
  return {{"traceEvents", std::move(trace).finish(end)},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"job", text_at(input.job, "/id")}, {"submitted_at", text_at(input.job, "/submitted_at")}}}};
}

}  // namespace tidepool::ctl
