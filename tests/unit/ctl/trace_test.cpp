// The Chrome trace of a job, read back as a viewer would.
#include "schedctl/trace/trace.hpp"

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

struct Figures {
  double step_ms = 0;
  json loss;
};
json point(const std::string& at, int step, int size, const Figures& figures) {
  return {{"at", "2026-11-20T10:00:" + at + "Z"},
          {"step", step},
          {"size", size},
          {"generation", 1},
          {"samples_per_second", 6'400 / figures.step_ms},
          {"step_ms", figures.step_ms},
          {"loss", figures.loss},
          {"compute_ms", json(static_cast<std::size_t>(size), 7.5)},
          {"global_batch", 64},
          {"noise_scale", nullptr}};
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
                 event("20.000", "job.resume_requested", json::object()),
                 event("21.000", "worker.started", {{"worker", "w-4"}, {"size", 1}}),
                 event("22.000", "generation.switched", switched(4, "resume", 0, 1, 0)),
                 event("30.000", "job.finished", {{"state", "succeeded"}, {"steps", 90}})};
  life.points = {point("04.500", 5, 2, {100.0, 3.1}), point("08.500", 45, 3, {50.0, nullptr})};
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
  CHECK(phases == std::vector<std::string>{"waiting", "starting", "training", "training", "suspending", "suspended",
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

TEST_CASE("A pause that began before the one before it was told is shown from there on") {
  TraceInput life = a_life();
  life.events.insert(life.events.begin() + 6, event("08.010", "generation.switched", switched(3, "grow", 3, 4, 25)));
  const auto spans = spans_by_lane(chrome_trace(life));
  const json& pause = spans.at("pauses of switches").at(2);
  CHECK(pause.at("ts") == 8'000'000);
  CHECK(pause.at("dur") == 10'000);
  CHECK(pause.at("args").at("stall_ms") == 25);
}

TEST_CASE("Measurements are counters, and a loss that is not a number is left out") {
  std::map<std::string, int> counters;
  const json trace = chrome_trace(a_life());
  for (const auto& one : trace.at("traceEvents")) {
    if (one.at("ph") != "C") continue;
    ++counters[one.at("name")];
    if (one.at("name") == "compute_ms" && one.at("ts") == 8'500'000) {
      CHECK(one.at("args") == json{{"rank 0", 7.5}, {"rank 1", 7.5}, {"rank 2", 7.5}});
    }
  }
  CHECK(counters == std::map<std::string, int>{
                        {"compute_ms", 2}, {"loss", 1}, {"samples_per_second", 2}, {"size", 2}, {"step", 2}});
}

TEST_CASE("The steps between two measurements are a span as long as they took") {
  const auto spans = spans_by_lane(chrome_trace(a_life()));
  const auto& steps = spans.at("steps");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].at("name") == "steps 1 to 5");
  CHECK(steps[0].at("ts") == 4'000'000);  // 5 of 100 ms before 04.500
  CHECK(steps[0].at("dur") == 500'000);
  CHECK(steps[1].at("name") == "steps 6 to 45");
  CHECK(steps[1].at("ts") == 6'500'000);
  CHECK(steps[1].at("args").at("size") == 3);
}

TEST_CASE("Steps that were taken back are no span, and what was measured slower than the clock overlaps nothing") {
  TraceInput life = a_life();
  life.points.push_back(point("09.000", 40, 3, {50.0, 2.0}));     // restored from an older state
  life.points.push_back(point("09.100", 41, 3, {5'000.0, 2.0}));  // its report came late
  const auto spans = spans_by_lane(chrome_trace(life));
  const auto& steps = spans.at("steps");
  REQUIRE(steps.size() == 3);
  CHECK(steps[2].at("name") == "step 41");
  CHECK(steps[2].at("ts") == 9'000'000);
  CHECK(steps[2].at("dur") == 100'000);
}

TEST_CASE("Every kind of change of a generation is shown by its name, with its report in the arguments") {
  TraceInput life = a_life();
  life.events.clear();
  life.points.clear();
  const std::vector<std::string> kinds = {"start", "grow", "shrink", "replace", "failure", "restart", "resume"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const int second = 10 + static_cast<int>(i);
    life.events.push_back(event(std::to_string(second) + ".000", "generation.switched",
                                switched(static_cast<int>(i) + 1, kinds[i], 2, 3, 30)));
  }
  const auto spans = spans_by_lane(chrome_trace(life));
  REQUIRE(spans.at("pauses of switches").size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const json& pause = spans.at("pauses of switches")[i];
    CHECK(pause.at("name") == kinds[i] + " to generation " + number);
    CHECK(pause.at("dur") == 30'000);
    CHECK(pause.at("args") == life.events[i].at("data"));
    CHECK(spans.at("generations")[i].at("name") == "generation " + number + ": 3 workers");
    CHECK(spans.at("communicators built")[i].at("name") == "generation " + number);
  }
}

TEST_CASE("A switch whose report was lost is a moment, and nothing lies before the job was submitted") {
  TraceInput life = a_life();
  life.points.clear();
  life.events = {event("00.010", "generation.switched", switched(1, "start", 0, 2, 500)),
                 event("01.000", "generation.switched",
                       {{"generation", 2}, {"kind", "grow"}, {"to_size", 3}, {"stall_ms", 0}, {"build_ms", 0}})};
  const auto spans = spans_by_lane(chrome_trace(life));
  CHECK(spans.at("pauses of switches")[0].at("ts") == 0);
  CHECK(spans.at("pauses of switches")[0].at("dur") == 10'000);
  CHECK(spans.at("pauses of switches")[1].at("dur") == 0);
  REQUIRE(spans.at("communicators built").size() == 1);
  CHECK(spans.at("communicators built")[0].at("dur") == 0);
}

TEST_CASE("The last span of a job that lives goes on to what is newest, an event or a measurement") {
  TraceInput life = a_life();
  life.events.erase(life.events.begin() + 5, life.events.end());  // up to the third worker's start
  life.points = json::array({point("07.250", 20, 2, {100.0, 3.0})});
  auto spans = spans_by_lane(chrome_trace(life));
  CHECK(spans.at("generations").back().at("ts") == 4'000'000);
  CHECK(spans.at("generations").back().at("dur") == 3'250'000);
  CHECK(spans.at("job").back().at("dur") == 3'250'000);
  life.points.clear();
  spans = spans_by_lane(chrome_trace(life));
  CHECK(spans.at("job").back().at("dur") == 1'500'000);
}

TEST_CASE("Names that would end a string or a script come back as they were") {
  const std::string awkward = "a \"b\" \\ \n\t\x01 </script> \xc3\xa9\xe2\x80\xa8";
  TraceInput life = a_life();
  life.job["name"] = awkward;
  life.events.push_back(event("31.000", "worker.lost", {{"worker", "w-1"}, {"exit_code", 1}, {"detail", awkward}}));
  const std::string text = chrome_trace(life).dump();
  CHECK(text.find('\n') == std::string::npos);
  const json trace = json::parse(text);
  CHECK(trace.at("traceEvents").at(0).at("args").at("name") == "job-1 " + awkward);
  bool found = false;
  for (const auto& one : trace.at("traceEvents")) found |= one.at("args").value("detail", "") == awkward;
  CHECK(found);
}

TEST_CASE("A clock that was set back makes nothing last less than no time") {
  TraceInput life = a_life();
  life.events[5].at("at") = "2026-11-20T10:00:02.000Z";  // the second switch, before the first
  life.points[1].at("at") = "2026-11-20T10:00:03.000Z";
  const json trace = chrome_trace(life);
  for (const auto& one : trace.at("traceEvents")) {
    INFO(one.dump());
    if (one.contains("ts")) CHECK(one.at("ts").get<std::int64_t>() >= 0);
    if (one.contains("dur")) CHECK(one.at("dur").get<std::int64_t>() >= 0);
  }
}

TEST_CASE("What is no event, has no time, or is of an unknown kind costs only itself") {
  const TraceInput good = a_life();
  const json expected = chrome_trace(good);
  TraceInput life = good;
  const json broken = {json(5),
                       json("text"),
                       json::array(),
                       {{"at", 7}, {"type", "job.parked"}},
                       {{"at", "soon"}, {"type", "generation.switched"}},
                       {{"at", "2026-11-20T10:00:05.000Z"}},
                       event("06.000", "moon.risen", {{"phase", "full"}})};
  for (const auto& one : broken) {
    life.events.insert(life.events.begin() + 5, one);
    life.points.insert(life.points.begin() + 1, one);
  }
  CHECK(chrome_trace(life) == expected);
  life = good;
  life.events[5].at("data") = "none";
  life.points[0]["compute_ms"] = "slow";
  life.points[0]["step_ms"] = nullptr;
  CHECK(chrome_trace(life).at("traceEvents").is_array());
  CHECK(chrome_trace({.job = nullptr}).at("traceEvents").size() == 1 + 6);  // the names of process and lanes
}

}  // namespace
}  // namespace tidepool::ctl
