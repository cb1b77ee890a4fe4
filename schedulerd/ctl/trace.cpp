#include "schedulerd/ctl/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "schedulerd/ctl/progress.hpp"
#include "schedulerd/ctl/words.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr int kProcess = 1;
enum Lane { kJob = 1, kGenerations, kSwitches, kBuilds, kHappenings };
constexpr std::array<std::pair<Lane, const char*>, 5> kLanes{{{kJob, "job"},
                                                              {kGenerations, "generations"},
                                                              {kSwitches, "pauses of switches"},
                                                              {kBuilds, "communicators built"},
                                                              {kHappenings, "what happened"}}};

bool is_instant(const std::string& type) {
  constexpr std::array<std::string_view, 14> kInstants = {
      "job.resize_requested", "job.changed",        "job.parked",   "job.checkpointed",  "job.restored",
      "worker.started",       "worker.stuck",       "worker.lost",  "worker.straggling", "worker.replaced",
      "decision.made",        "data.epoch_audited", "job.finished", "job.rebalanced"};
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
  void add_span(Lane lane, std::int64_t from_us, std::int64_t to_us, const std::string& name, json args) {
    events_.push_back({{"ph", "X"},
                       {"name", name},
                       {"cat", "job"},
                       {"pid", kProcess},
                       {"tid", lane},
                       {"ts", since_start(from_us)},
                       {"dur", std::max<std::int64_t>(0, to_us - from_us)},
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
  void add_counter(std::int64_t at_us, const std::string& name, const json& value) {
    if (!value.is_number()) return;  // a loss that is not finite
    events_.push_back(
        {{"ph", "C"}, {"name", name}, {"pid", kProcess}, {"ts", since_start(at_us)}, {"args", {{name, value}}}});
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
  if (type == "job.submitted" || (type == "job.resumed" && number_at(data, "/size").value_or(0) == 0)) {
    trace.go_on_with(kJob, at_us, "waiting");
  } else if (type == "job.suspended") {
    trace.go_on_with(kGenerations, at_us, "");
    trace.go_on_with(kJob, at_us, "suspended");
  } else if (type == "job.parked") {
    trace.go_on_with(kGenerations, at_us, "");
    trace.go_on_with(kJob, at_us, "parked");
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
  if (type == "job.submitted" || type == "job.suspended" || type == "job.parked" || type == "job.resumed") idle = true;
  if (type == "generation.switched") idle = false;
  return type == "worker.started" && std::exchange(idle, false);
}

void add_points(TraceWriter& trace, const json& points) {
  for (const auto& point : points) {
    const auto at = micros_of(text_at(point, "/at"));
    if (!at) continue;
    trace.add_counter(*at, "size", point.value("size", json()));
    trace.add_counter(*at, "samples_per_second", point.value("samples_per_second", json()));
    trace.add_counter(*at, "loss", point.value("loss", json()));
  }
}

}  // namespace

std::optional<std::int64_t> micros_of(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text.back() != 'Z')
    return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    std::from_chars(text.data() + at, text.data() + at + digits, value);
    return value;
  };
  namespace chrono = std::chrono;
  const chrono::year_month_day day(chrono::year(number(0, 4)), chrono::month(static_cast<unsigned>(number(5, 2))),
                                   chrono::day(static_cast<unsigned>(number(8, 2))));
  if (!day.ok() || number(11, 2) < 0 || number(14, 2) < 0 || number(17, 2) < 0) return std::nullopt;
  const chrono::seconds seconds =
      chrono::hours(number(11, 2)) + chrono::minutes(number(14, 2)) + chrono::seconds(number(17, 2));
  std::int64_t micros =
      chrono::duration_cast<chrono::microseconds>(chrono::sys_days(day).time_since_epoch() + seconds).count();
  std::int64_t unit = 100'000;
  for (std::size_t at = 20; text[19] == '.' && at + 1 < text.size() && unit > 0; ++at, unit /= 10) {
    micros += (text[at] - '0') * unit;
  }
  return micros;
}

json chrome_trace(const TraceInput& input) {
  const std::string name = text_at(input.job, "/id") + " " + text_at(input.job, "/name");
  const auto zero = micros_of(text_at(input.job, "/submitted_at")).value_or(0);
  TraceWriter trace(zero, name);
  std::int64_t newest = zero;
  bool idle = true;
  for (const auto& event : input.events) {
    const auto at = micros_of(text_at(event, "/at"));
    if (!at) continue;
    newest = std::max(newest, *at);
    if (begins_to_start(event, idle)) trace.go_on_with(kJob, *at, "starting");
    add_event(trace, event, *at);
  }
  add_points(trace, input.points);
  return {{"traceEvents", std::move(trace).finish(newest)},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"job", text_at(input.job, "/id")}, {"submitted_at", text_at(input.job, "/submitted_at")}}}};
}

}  // namespace tidepool::ctl
