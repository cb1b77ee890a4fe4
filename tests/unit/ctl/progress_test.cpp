#include "schedctl/progress.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

Progress demo() {
  Progress progress;
  take_job(progress, example("job.json"));
  return progress;
}

TEST_CASE("the line of progress fits any width") {
  for (int width = 1; width <= 200; ++width) {
    CHECK(widest_line(progress_line(demo(), {.width = width})) <= static_cast<std::size_t>(width));
  }
}

TEST_CASE("the line of progress shows bar, step, loss, rate, size and cost") {
  const std::string line = progress_line(demo(), {.width = 120});
  CHECK(line == "[#########.....................]  step 120/400  loss 2.31  9,120 samples/s  2 workers  0.0042 USD");
}

TEST_CASE("the bar is there on a terminal of eighty columns") {
  CHECK(progress_line(demo(), {.width = 80}).starts_with("[###"));
}

TEST_CASE("an event moves the progress on, and never invents a total") {
  Progress progress = demo();
  json event = example("event.json");
  event["data"]["step"] = 200;
  event["data"]["size"] = 3;
  take_event(progress, event);
  CHECK(progress.step == 200);
  CHECK(progress.fraction == 0.5);
  CHECK(progress.size == 3);
  Progress unknown;
  take_event(unknown, event);
  CHECK_FALSE(unknown.fraction);
  CHECK(progress_line(unknown, {.width = 80}).find('[') == std::string::npos);
}

TEST_CASE("each event that matters has a sentence") {
  const auto say = [](const char* type, const json& data) {
    return event_sentence({{"type", type}, {"job", "job-1"}, {"data", data}}, "job-1");
  };
  CHECK(say("job.submitted", {{"min", 1}, {"max", 4}, {"preferred", 2}}) == "submitted: 1 to 4 workers, 2 preferred");
  CHECK(say("job.submitted", {{"min", 1}, {"max", 1}, {"preferred", 1}}) == "submitted: 1 worker");
  CHECK(say("job.started", {{"size", 1}}) == "training with 1 worker");
  CHECK(say("job.resizing", {{"from", 2}, {"to", 3}, {"reason", {{"text", "because"}}}}) == "resizing 2 -> 3: because");
  CHECK(say("job.resizing", {{"from", 2}, {"to", 3}, {"reason", {{"text", "growing 2 -> 3: worth a try"}}}}) ==
        "growing 2 -> 3: worth a try");
  CHECK(say("job.resize_requested", {{"size", 0}}) == "a user leaves the size to the engine");
  const json prices = {{"prices", {{{"rule", "h100"}, {"price", "1.90"}}}}, {"nodes", 1}};
  CHECK(event_sentence({{"type", "prices.changed"}, {"data", prices}}, "") ==
        "prices changed: h100 costs 1.90 per slot and hour, of 1 node");
  CHECK(say("generation.switched",
            {{"from_size", 2}, {"to_size", 3}, {"switch_step", 121}, {"stall_ms", 12.3}, {"steps_redone", 0}}) ==
        "now 3 workers (was 2), from step 121 on, training paused for 12.3 ms");
  CHECK(say("generation.switched",
            {{"from_size", 0}, {"to_size", 1}, {"unused", {{"text", "the state of step 90 was not used"}}}}) ==
        "now 1 worker (was 0); the state of step 90 was not used");
  CHECK(say("worker.lost", {{"worker", "w-2"}, {"signal", 9}, {"exit_code", -1}, {"detail", ""}}) ==
        "worker w-2 lost, ended by signal 9");
  CHECK(say("worker.lost", {{"worker", "w-2"}, {"signal", 0}, {"exit_code", 2}, {"detail", "no file x"}}) ==
        "worker w-2 lost, exit code 2: no file x");
  CHECK(say("worker.straggling", {{"worker", "w-2"}, {"score", 0.55}, {"threshold", 0.8}}) ==
        "worker w-2 is slow: 55 % of the others' speed, below 80 %");
  CHECK(say("worker.straggling", {{"worker", "w-2"},
                                  {"score", 0.9},
                                  {"threshold", 0.92},
                                  {"follows", "node"},
                                  {"waited_s", 3.5},
                                  {"next_action", "replace"},
                                  {"action_cost_s", 12.0}}) ==
        "worker w-2 is slow: 90 % of the others' speed, below 92 %; the cause is the node; waiting for it has cost "
        "3.5 slot-seconds; replacing costs 12.0");
  CHECK(say("worker.straggling", {{"worker", "w-2"},
                                  {"score", 0.9},
                                  {"threshold", 0.92},
                                  {"follows", "unknown"},
                                  {"waited_s", 3.0},
                                  {"next_action", nullptr},
                                  {"action_cost_s", nullptr}}) ==
        "worker w-2 is slow: 90 % of the others' speed, below 92 %; worker or node; waiting for it has cost 3.0 "
        "slot-seconds");
  CHECK(say("job.parked", {{"step", 160}, {"write_ms", 0.5}}) == "state of step 160 saved in 0.5 ms");
  CHECK(say("job.suspended", {{"kept_step", 160}}) == "suspended; its state of step 160 is saved");
  CHECK(say("job.suspended", {{"step", 160}, {"kept_step", 160}}) == "suspended; its state of step 160 is saved");
  CHECK(say("job.suspended", {{"step", 160}, {"kept_step", 90}}) ==
        "suspended after step 160; its newest saved state is of step 90");
  CHECK(say("job.suspended", {{"step", 160}, {"kept_step", nullptr}}) ==
        "suspended after step 160; Tidepool has saved no state of it");
  CHECK(say("job.suspended", {{"step", 0}, {"kept_step", nullptr}}) == "suspended");
  CHECK(say("job.restored", {{"step", 1200}, {"steps_lost", 1}}) == "continues from step 1,200, 1 step lost");
  CHECK(say("job.restored", {{"step", 0}, {"steps_lost", 0}}) == "continues from step 0");
  CHECK(say("job.restored", {{"step", 0}, {"steps_lost", 24'100}}) ==
        "starts again from step 0, 24,100 steps lost: it has no saved state that it can use");
  CHECK(say("worker.replaced", {{"worker", "w-2"}, {"by", "w-5"}}) == "worker w-2 replaced by w-5");
  CHECK(say("worker.replaced", {{"worker", "w-3"}, {"by", "w-6"}, {"because_of", "w-2"}}) ==
        "worker w-3 replaced by w-6, as w-2 of its group is slow");
  CHECK(say("job.finished", {{"state", "failed"}, {"steps", 3}, {"loss", nullptr}, {"error", "boom"}}) ==
        "failed after 3 steps: boom");
  CHECK(say("job.finished", {{"state", "succeeded"}, {"steps", 3}, {"loss", 1.5}, {"error", nullptr}}) ==
        "succeeded after 3 steps, loss 1.5");
  CHECK(say("job.finished", {{"state", "failed"}, {"steps", 0}, {"loss", 0}}) == "failed");
  CHECK(say("job.finished", {{"state", "succeeded"}, {"steps", 0}, {"loss", 0}}) == "succeeded");
  CHECK(say("data.epoch_audited", {{"epoch", 1}, {"expected", 10}, {"used", 10}, {"checksum_ok", true}}).empty());
  CHECK(say("data.epoch_audited", {{"epoch", 1}, {"expected", 10}, {"used", 10}, {"checksum_ok", false}})
            .find("FAILED") != std::string::npos);
  CHECK(say("job.progressed", {{"step", 1}}).empty());
}

TEST_CASE("what happens to a worker is told with its node, where the event has one") {
  const auto say = [](const char* type, const json& node, json data) {
    data["worker"] = "w-2";
    return event_sentence({{"type", type}, {"job", "job-1"}, {"node", node}, {"data", data}}, "");
  };
  CHECK(say("worker.lost", "node-3", {{"signal", 9}, {"exit_code", -1}}) ==
        "worker w-2 on node-3 lost, ended by signal 9");
  CHECK(say("worker.lost", nullptr, {{"signal", 9}, {"exit_code", -1}}) == "worker w-2 lost, ended by signal 9");
  CHECK(say("worker.started", "node-3", {{"size", 2}}) == "worker w-2 on node-3 is placed");
  CHECK(say("worker.replaced", "node-3", {{"by", "w-5"}}) == "worker w-2 on node-3 replaced by w-5");
  CHECK(say("worker.straggling", "node-3", {{"score", 0.5}, {"threshold", 0.8}}) ==
        "worker w-2 on node-3 is slow: 50 % of the others' speed, below 80 %");
  CHECK(say("slots.released", "node-3", {{"seconds", 2.0}}) == "slots of w-2 free after 2.0 s");
}

TEST_CASE("what an action against a slow worker costs is told also where it costs nothing") {
  const json data = {
      {"worker", "w-2"},     {"score", 0.12}, {"threshold", 0.7}, {"waited_s", 0.0}, {"next_action", "rebalance"},
      {"action_cost_s", 0.0}};
  CHECK(event_sentence({{"type", "worker.straggling"}, {"job", "job-1"}, {"data", data}}, "job-1") ==
        "worker w-2 is slow: 12 % of the others' speed, below 70 %; waiting for it has cost 0 slot-seconds; "
        "rebalancing costs 0");
}

TEST_CASE("events of other jobs are not told") {
  const json event = {{"type", "job.started"}, {"job", "job-2"}, {"data", {{"size", 1}}}};
  CHECK(event_sentence(event, "job-1").empty());
  CHECK(event_sentence(event, "") == "training with 1 worker");
}

TEST_CASE("a job that releases its workers says why or how it goes on in one sentence") {
  const auto say = [](int size, const char* why) {
    const json data = {{"size", size}, {"reason", {{"text", why}}}};
    return event_sentence({{"type", "job.requeued"}, {"job", "job-1"}, {"data", data}}, "job-1");
  };
  CHECK(say(4, "preempted for job-2") == "releases its 4 workers: preempted for job-2");
  CHECK(say(1, "waits: tenant lab has spent its budget of 8.00") ==
        "releases its 1 worker: tenant lab has spent its budget of 8.00");
  CHECK(say(2, "waits for 2 slots; none is free") == "releases its 2 workers and waits for 2 slots; none is free");
  CHECK(say(2, "returns to the queue: 1 worker left, and it needs 2") ==
        "releases its 2 workers and returns to the queue: 1 worker left, and it needs 2");
  CHECK(say(2, "saving its state and releasing its slots: node-2 is being drained and must be empty in 8 min") ==
        "saves its state and releases its 2 workers: node-2 is being drained and must be empty in 8 min");
  const json resizing = {{"from", 3}, {"to", 2}, {"reason", {{"text", "removing w-3: it is slow"}}}};
  CHECK(event_sentence({{"type", "job.resizing"}, {"job", "job-1"}, {"data", resizing}}, "job-1") ==
        "resizing 3 -> 2; removing w-3: it is slow");
}

TEST_CASE("what watch shows in other ways is still told among all events") {
  const json decision = {{"type", "decision.made"},
                         {"job", nullptr},
                         {"data",
                          {{"intents",
                            {{{"kind", "grow"}, {"job", "job-1"}, {"text", "it pays"}},
                             {{"kind", "start"}, {"job", "job-2"}, {"text", "slots are free"}}}}}}};
  CHECK(event_sentence(decision, "job-1").empty());
  CHECK(event_sentence(decision, "") == "grow: it pays; start: slots are free");
  CHECK(event_sentence(example("event.json"), "") == "step 120, loss 2.31, 9,120 samples/s, 2 workers");
  const json audit = {{"type", "data.epoch_audited"},
                      {"job", "job-1"},
                      {"data", {{"epoch", 1}, {"expected", 10}, {"used", 10}, {"checksum_ok", true}}}};
  CHECK(event_sentence(audit, "") == "epoch 1 audited: 10 of 10 samples used, each exactly once");
  json of_many = audit;
  of_many["data"]["epochs"] = 340;
  CHECK(event_sentence(of_many, "") ==
        "epoch 1 audited: 10 of 10 samples used, each exactly once, as in the 339 epochs before it");
  const json error = {{"type", "policy.error"}, {"data", {{"policy", "p"}, {"error", "job-1 has size -1"}}}};
  CHECK(event_sentence(error, "") ==
        "the plan of policy p broke a rule, the previous plan stays in force: job-1 has size -1");
}

TEST_CASE("what becomes of a policy file is told in words") {
  const auto say = [](const char* type, const json& data) {
    return event_sentence({{"type", type}, {"job", nullptr}, {"data", data}}, "");
  };
  const std::string hash = "5ca6dd8a74a12e6892cd53c03d109897ca172d2d513da583b388f7d1c20150f5";
  CHECK(
      say("policy.error", {{"policy", "cap"}, {"version", hash}, {"code", "policy.deadline"}, {"error", "too slow"}}) ==
      "policy cap failed, so the built-in default decided: too slow");
  CHECK(say("policy.activated", {{"policy", "cap"}, {"version", hash}, {"before", nullptr}}) ==
        "policy cap, version 5ca6dd8a74a1 decides from now on");
  CHECK(
      say("policy.rolled_back", {{"policy", "cap"}, {"version", hash}, {"to", nullptr}, {"why", "3 rounds failed"}}) ==
      "policy cap, version 5ca6dd8a74a1 was replaced by the daemon's own policy: 3 rounds failed");
  CHECK(say("policy.shadow_stopped", {{"policy", "cap"}, {"version", hash}}) ==
        "policy cap, version 5ca6dd8a74a1 no longer runs as a shadow");
}

TEST_CASE("a replacement is told by its reason, and the first generation by the start") {
  const auto say = [](const char* type, const json& data) {
    return event_sentence({{"type", type}, {"job", "job-1"}, {"data", data}}, "job-1");
  };
  CHECK(say("job.resizing", {{"from", 2}, {"to", 2}, {"reason", {{"text", "w-1 is slow"}}}}) == "w-1 is slow");
  CHECK(say("generation.switched", {{"from_size", 0}, {"to_size", 2}, {"switch_step", 0}}).empty());
  CHECK(say("generation.switched", {{"from_size", 2}, {"to_size", 2}, {"switch_step", 9}, {"stall_ms", 0.0}}) ==
        "still 2 workers, from step 9 on");
}

TEST_CASE("each type of event that the API names has a sentence, also without the data that it should have") {
  std::istringstream lines(source_text("api/openapi.yaml"));
  std::string line;
  while (std::getline(lines, line) && line != "    EventType:") {
  }
  int types = 0;
  while (std::getline(lines, line) && line.starts_with("      ")) {
    if (!line.starts_with("        - ")) continue;
    ++types;
    const std::string type = line.substr(10);
    if (type == "decision.made" || type == "job.notice_answered") continue;  // their data bring the words
    INFO(type);
    CHECK_FALSE(event_sentence({{"type", type}}, "").empty());
  }
  CHECK(types > 60);
}

TEST_CASE("the types that completion offers are those of the API") {
  const std::string api = source_text("api/openapi.yaml");
  const auto begin = api.find("    EventType:\n");
  const std::string listed = api.substr(begin, api.find("    Event:\n", begin) - begin);
  std::set<std::string> types;
  for (const auto& type : described_event_types()) {
    INFO(type);
    CHECK(types.insert(type).second);
    CHECK(listed.find("        - " + type + "\n") != std::string::npos);
  }
  CHECK(std::count(listed.begin(), listed.end(), '-') == static_cast<std::ptrdiff_t>(types.size()));
}

TEST_CASE("events of nodes and pools are told in words") {
  const auto say = [](const char* type, const json& data) {
    return event_sentence({{"type", type}, {"job", nullptr}, {"data", data}}, "");
  };
  CHECK(say("node.draining", {{"name", "a"}, {"seconds", 90}, {"workers", 2}, {"reason", "a new disk"}}) ==
        "a must be empty in 1m 30s, 2 workers on it: a new disk");
  CHECK(say("node.cordoned", {{"name", "a"}, {"cordoned", false}}) == "a takes workers again");
  json faults = {{"name", "a"}, {"losses", 3}, {"failed_starts", 0}, {"within_seconds", 12}, {"seconds", 90}};
  CHECK(say("node.unsteady", faults) == "a gets no workers for 1m 30s: 3 losses within 12.0 s");
  faults["failed_starts"] = 1;
  CHECK(say("node.unsteady", faults).ends_with(": 3 losses, 1 failed start within 12.0 s"));
  CHECK(say("node.removed", {{"name", "a"}}) == "a is removed");
  CHECK(say("node.labelled", {{"name", "a"}, {"labels", {{"rack", "r1"}}}}) == "a has rack=r1");
  // As the daemon writes them (core/facts/nodes/maintenance_facts.cpp).
  json window = {{"window", "mw-1"}, {"nodes", "zone=a"}, {"from_unix", 1}, {"to_unix", 2}, {"reason", ""}};
  CHECK(say("maintenance.added", window) == "maintenance mw-1 of nodes with zone=a is planned");
  window["nodes"] = "node=n1";
  CHECK(say("maintenance.began", window) == "maintenance mw-1 of nodes with node=n1 has begun");
  const auto because = [](const char* why) {
    return json{{"name", "gpu-3"}, {"seconds", 30}, {"reason", {{"text", why}}}};
  };
  CHECK(say("pool.node_released", because("given back: it has held nothing for 5 min")) ==
        "gpu-3 is given back: it has held nothing for 5 min");
  CHECK(say("pool.node_released", because("")) == "gpu-3 is given back");
  CHECK(say("pool.node_emptying", because("emptied: the pool has 3 nodes")).ends_with(": the pool has 3 nodes"));
  CHECK(say("pool.bill_runs_on", {{"name", ""}, {"provider_id", "i-7"}, {"attempts", 2}}).starts_with("i-7 was ended"));
  CHECK(say("pool.create_failed",
            {{"name", "loc-1"}, {"fault", "quota"}, {"again_in_seconds", 15}, {"detail", "no more than 4"}}) ==
        "making loc-1 failed (quota), tried again in 15.0 s: no more than 4");
  CHECK(say("worker.lost", {{"worker", "w-1"}, {"exit_code", -1}, {"signal", 0}, {"detail", "no agent for 5s"}}) ==
        "worker w-1 lost: no agent for 5s");
}

TEST_CASE("a change of a job's file is told with what the job has now") {
  const json changed = {{"type", "job.changed"},
                        {"job", "job-1"},
                        {"data", {{"min", 1}, {"max", 4}, {"preferred", 2}, {"sizes", {1, 2, 4}}, {"priority", 10}}}};
  CHECK(event_sentence(changed, "job-1") ==
        "its job file was changed; it now has elastic.min 1, preferred 2, max 4 and priority 10");
}

TEST_CASE("an event with no data is no crash") {
  for (const char* type : {"job.submitted", "job.resizing", "generation.switched", "worker.lost", "decision.made",
                           "job.finished", "data.epoch_audited", "unheard.of"}) {
    CHECK_NOTHROW(event_sentence({{"type", type}, {"job", "job-1"}}, "job-1"));
  }
}

}  // namespace
}  // namespace tidepool::ctl
