// The Chrome trace of a job, read back as a viewer would.
#include "schedulerd/ctl/trace.hpp"

#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

namespace tidepool::ctl {
namespace {

using nlohmann::json;

json event(const std::string& at, const std::string& type, json data) {
  return {{"at", "2026-11-20T10:00:" + at + "Z"}, {"type", type}, {"job", "job-1"}, {"data", std::move(data)}};
}

json switched(int generation, const std::string& kind, int from, int to, double stall_ms) {
  return {{"generation", generation}, {"kind", kind},      {"from_size", from}, {"to_size", to},
          {"stall_ms", stall_ms},     {"build_ms", 400.0}, {"steps_redone", 0}, {"switch_step", 10}};
}

// Starts with two workers, grows to three, is suspended, goes on, ends.
TraceInput a_life() {
  TraceInput life;
  life.job = {{"id", "job-1"}, {"name", "charlm"}, {"submitted_at", "2026-11-20T10:00:00.000Z"}};
  life.events = {event("00.000", "job.submitted", {{"min", 1}, {"max", 3}, {"preferred", 2}}),
                 event("01.000", "worker.started", {{"worker", "w-1"}, {"size", 2}}),
                 event("01.000", "worker.started", {{"worker", "w-2"}, {"size", 2}}),
                 event("04.000", "generation.switched", switched(1, "start", 0, 2, 0)),
                 event("05.500", "worker.started", {{"worker", "w-3"}, {"size", 3}}),
                 event("08.000", "generation.switched", switched(2, "grow", 2, 3, 25)),
                 event("09.000", "job.checkpointed", {{"generation", 2}, {"step", 40}, {"write_ms", 3.0}}),
                 event("10.000", "job.parked", {{"generation", 3}, {"step", 50}, {"write_ms", 2.0}}),
                 event("10.100", "job.suspended", {{"size", 0}, {"step", 50}, {"kept_step", 50}}),
                 event("20.000", "job.resumed", {{"size", 0}, {"step", 50}}),
                 event("21.000", "worker.started", {{"worker", "w-4"}, {"size", 1}}),
                 event("22.000", "generation.switched", switched(4, "resume", 0, 1, 0)),
                 event("30.000", "job.finished", {{"state", "succeeded"}, {"steps", 90}})};
  life.points = {{{"at", "2026-11-20T10:00:04.500Z"}, {"size", 2}, {"samples_per_second", 900.5}, {"loss", 3.1}},
                 {{"at", "2026-11-20T10:00:08.500Z"}, {"size", 3}, {"samples_per_second", 1200}, {"loss", nullptr}}};
  return life;
}

// Spans by the name of their lane, in order.
std::map<std::string, std::vector<json>> spans_by_lane(const json& trace) {
  std::map<int, std::string> lanes;
  std::map<std::string, std::vector<json>> spans;
  for (const auto& one : trace.at("traceEvents")) {
    if (one.at("ph") == "M" && one.at("name") == "thread_name") lanes[one.at("tid")] = one.at("args").at("name");
    if (one.at("ph") == "X") spans[lanes.at(one.at("tid"))].push_back(one);
  }
  return spans;
}

TEST_CASE("The trace is what viewers read: every entry has its phase, process, and time, and spans have a length") {
  const json trace = json::parse(chrome_trace(a_life()).dump());
  CHECK(trace.at("displayTimeUnit") == "ms");
  std::set<std::string> phases;
  for (const auto& one : trace.at("traceEvents")) {
    INFO(one.dump());
    const std::string phase = one.at("ph");
    phases.insert(phase);
    CHECK(one.at("name").is_string());
    CHECK(one.at("pid").is_number_integer());
    if (phase == "M") continue;
    CHECK(one.at("ts").get<std::int64_t>() >= 0);
    if (phase == "X") CHECK(one.at("dur").get<std::int64_t>() >= 0);
    if (phase == "i") CHECK(one.at("s") == "t");
    if (phase == "C") CHECK(one.at("args").begin()->is_number());
  }
  CHECK(phases == std::set<std::string>{"C", "M", "X", "i"});
}

TEST_CASE("Spans of a lane follow one another, and tell the life of the job") {
  const auto spans = spans_by_lane(chrome_trace(a_life()));
  for (const auto& [lane, list] : spans) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      INFO(lane << ": " << list[i].dump());
      CHECK(list[i].at("ts").get<std::int64_t>() >=
            list[i - 1].at("ts").get<std::int64_t>() + list[i - 1].at("dur").get<std::int64_t>());
    }
  }
  std::vector<std::string> phases;
  for (const auto& span : spans.at("job")) phases.push_back(span.at("name"));
  CHECK(phases == std::vector<std::string>{"waiting", "starting", "training", "training", "parked", "suspended",
                                           "waiting", "starting", "training"});
  const auto& generations = spans.at("generations");
  REQUIRE(generations.size() == 3);
  CHECK(generations[1].at("name") == "generation 2: 3 workers");
  CHECK(generations[1].at("ts") == 8'000'000);
  CHECK(generations[1].at("dur") == 2'000'000);
}

TEST_CASE("A switch is shown with its pause and, before it, the building") {
  const auto spans = spans_by_lane(chrome_trace(a_life()));
  const json& pause = spans.at("pauses of switches").at(1);
  CHECK(pause.at("name") == "grow to generation 2");
  CHECK(pause.at("ts") == 7'975'000);
  CHECK(pause.at("dur") == 25'000);
  const json& build = spans.at("communicators built").at(1);
  CHECK(build.at("ts") == 7'575'000);
  CHECK(build.at("dur") == 400'000);
}

TEST_CASE("Measurements are counters, and a loss that is not a number is left out") {
  std::map<std::string, int> counters;
  const json trace = chrome_trace(a_life());
  for (const auto& one : trace.at("traceEvents")) {
    if (one.at("ph") == "C") ++counters[one.at("name")];
  }
  CHECK(counters == std::map<std::string, int>{{"loss", 1}, {"samples_per_second", 2}, {"size", 2}});
}

TEST_CASE("A time is read to the microsecond, and anything else is none") {
  CHECK(micros_of("1970-01-02T00:00:00.120Z") == 86'400'120'000);
  CHECK(micros_of("1970-01-01T00:00:01Z") == 1'000'000);
  CHECK_FALSE(micros_of("yesterday"));
  CHECK_FALSE(micros_of("2026-13-40T00:00:00.000Z"));
}

}  // namespace
}  // namespace tidepool::ctl
