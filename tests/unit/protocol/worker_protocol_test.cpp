#include <cmath>

#include <catch2/catch.hpp>

#include "api/worker_protocol.hpp"

namespace tidepool::api {
namespace {

template <class Message>
std::string refusal(const Result<Message>& decoded) {
  return decoded.ok() ? "accepted" : decoded.error().message;
}

}  // namespace

TEST_CASE("a message is one line, its type and its fields as the protocol page names them") {
  CHECK(encode(AgentToDaemon(AgentHeartbeat{})) == "{\"type\":\"heartbeat\"}\n");
  CHECK(encode(DaemonToAgent(StopWorker{.worker = WorkerId(3), .grace_ms = 250})) ==
        "{\"grace_ms\":250,\"type\":\"stop\",\"worker\":\"w-3\"}\n");
  CHECK(encode(AgentToDaemon(FromWorkerReport{.worker = WorkerId(7), .message = ReadyMessage{.generation = 2}})) ==
        "{\"message\":{\"generation\":2,\"protocol\":1,\"type\":\"ready\"},\"type\":\"from_worker\",\"worker\":\"w-7\"}"
        "\n");
  CHECK(encode(ToWorker(AddressesMessage{.generation = 1, .blobs = {"foob", ""}})) ==
        "{\"blobs\":[\"Zm9vYg==\",\"\"],\"generation\":1,\"type\":\"addresses\"}\n");
}

TEST_CASE("an agent of an older version tells no data address, and one that is none is refused in words") {
  const auto hello = [](const std::string& more) {
    return decode_agent_to_daemon(R"({"type":"hello","protocol":1,"token":"t","node":"n","slots":1,"slot_type":"cpu",)"
                                  R"("price_per_slot_hour":"1.00","running":[])" +
                                  more + "}");
  };
  REQUIRE(hello("").ok());
  CHECK_FALSE(std::get<AgentHello>(*hello("")).data_address);
  CHECK(std::get<AgentHello>(*hello(R"(,"data_address":"fd00::1")")).data_address == "fd00::1");
  for (const char* bad : {"eth0", "0.0.0.0", "10.1.2.3:80", "fe80::1%eth0", ""}) {
    CHECK_THAT(refusal(hello(R"(,"data_address":")" + std::string(bad) + "\"")), Catch::Contains("data_address"));
  }
}

TEST_CASE("a hello tells what the node keeps of its jobs, or nothing in older versions") {
  const auto hello = [](const std::string& more) {
    return decode_agent_to_daemon(R"({"type":"hello","protocol":1,"token":"t","node":"n","slots":2,"slot_type":"cpu",)"
                                  R"("price_per_slot_hour":"1.00","running":[])" +
                                  more + "}");
  };
  CHECK_FALSE(std::get<AgentHello>(*hello("")).isolation);
  CHECK(std::get<AgentHello>(*hello(R"(,"isolation":[])")).isolation->empty());
  const auto some = hello(R"(,"isolation":["uid","pids"])");
  REQUIRE(some.ok());
  CHECK(std::get<AgentHello>(*some).isolation == std::vector<std::string>{"uid", "pids"});
  CHECK(decode_agent_to_daemon(encode(AgentToDaemon{std::get<AgentHello>(*some)})).ok());
  // Of an agent of a later version.
  CHECK(std::get<AgentHello>(*hello(R"(,"isolation":["uid","walls"])")).isolation == std::vector<std::string>{"uid"});
  for (const char* bad : {R"("uid")", R"([["uid"]])", "[1]"}) {
    CHECK_THAT(refusal(hello(R"(,"isolation":)" + std::string(bad))), Catch::Contains("isolation"));
  }
}

TEST_CASE("starts are told for each of the running, and what is not told is left out of the line") {
  const auto hello = [](const std::string& starts) {
    return decode_agent_to_daemon(R"({"type":"hello","protocol":1,"token":"t","node":"n","slots":2,"slot_type":"cpu",)"
                                  R"("price_per_slot_hour":"1.00","running":["w-1","w-2"],"instance":"a","starts":)" +
                                  starts + "}");
  };
  const auto good = std::get<AgentHello>(*hello("[7,0]"));
  CHECK(good.starts == std::vector<std::int64_t>{7, 0});
  CHECK(good.instance == "a");
  CHECK_THAT(refusal(hello("[7]")), Catch::Contains("starts"));
  const StartWorker start{.worker = WorkerId(1), .job = JobId(1), .started_at = 7, .submitted_at = 6};
  const auto read = std::get<StartWorker>(*decode_daemon_to_agent(encode(DaemonToAgent{start})));
  CHECK(read.started_at == 7);
  CHECK(read.submitted_at == 6);
  AgentWelcome welcome{.node = NodeId(1), .cluster = "c"};
  CHECK(encode(DaemonToAgent{welcome}).find("lost") == std::string::npos);
  welcome.lost = std::vector{WorkerId(3)};
  CHECK(std::get<AgentWelcome>(*decode_daemon_to_agent(encode(DaemonToAgent{welcome}))).lost == welcome.lost);
}

TEST_CASE("memory is told within the bounds of a size") {
  const auto hello = [](const std::string& bytes) {
    return decode_agent_to_daemon(R"({"type":"hello","protocol":1,"token":"t","node":"n","slots":2,"slot_type":"cpu",)"
                                  R"("price_per_slot_hour":"1.00","running":[],"memory_per_slot":)" +
                                  bytes + "}");
  };
  CHECK(std::get<AgentHello>(*hello("0")).memory_per_slot == 0);
  CHECK(std::get<AgentHello>(*hello("1125899906842624")).memory_per_slot == std::int64_t{1} << 50U);
  for (const char* bad : {"-1", "1125899906842625", "1.5", "\"64GiB\""}) {
    CHECK_THAT(refusal(hello(bad)), Catch::Contains("memory_per_slot"));
  }
  StartWorker start{.worker = WorkerId(1), .job = JobId(1), .memory = std::int64_t{1} << 20U};
  const auto line = nlohmann::json::parse(encode(DaemonToAgent{start}));
  CHECK(std::get<StartWorker>(*decode_daemon_to_agent(line.dump())).memory == start.memory);
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{1'048'575}, (std::int64_t{1} << 50U) + 1}) {
    auto wrong = line;
    wrong["memory"] = bad;
    CHECK_THAT(refusal(decode_daemon_to_agent(wrong.dump())), Catch::Contains("memory"));
  }
}

TEST_CASE("a ready without a generation is in none") {
  const auto decoded = decode_worker_to_agent(R"({"type":"ready","protocol":1})");
  REQUIRE(decoded.ok());
  CHECK(std::get<ReadyMessage>(std::get<FromWorker>(*decoded)).generation == 0);
}

TEST_CASE("a ready tells how long its program is in steps or in samples, and nothing where it does not know") {
  const auto line = [](const ReadyMessage& ready) { return encode(WorkerToAgent(FromWorker(ready))); };
  CHECK(line({.work_steps = 300}) == R"({"generation":0,"protocol":1,"type":"ready","work_steps":300})"
                                     "\n");
  const auto told = [](const std::string& text) {
    return std::get<ReadyMessage>(std::get<FromWorker>(decode_worker_to_agent(text).value()));
  };
  CHECK(told(line({.work_samples = 9'000})).work_samples == 9'000);
  CHECK(told(line({.work_steps = 300})).work_steps == 300);
  const ReadyMessage silent = told(line({}));
  CHECK_FALSE(silent.work_steps.has_value());
  CHECK_FALSE(silent.work_samples.has_value());
}

TEST_CASE("a loss that is not finite travels as null and comes back as NaN") {
  const std::string line = encode(WorkerToAgent(FromWorker(FinishedMessage{.last_step = 9, .loss = INFINITY})));
  CHECK(line == "{\"last_step\":9,\"loss\":null,\"samples_total\":0,\"type\":\"finished\"}\n");
  const auto decoded = decode_worker_to_agent(line);
  REQUIRE(decoded.ok());
  CHECK(std::isnan(std::get<FinishedMessage>(std::get<FromWorker>(*decoded)).loss));
}

TEST_CASE("a noise scale that is not known yet travels as null") {
  const std::string line = encode(WorkerToAgent(FromWorker(StepsMessage{.steps = 1, .global_batch = 8})));
  CHECK_THAT(line, Catch::Contains("\"noise_scale\":null"));
  const auto decoded = decode_worker_to_agent(line);
  REQUIRE(decoded.ok());
  CHECK_FALSE(std::get<StepsMessage>(std::get<FromWorker>(*decoded)).noise_scale.has_value());
}

TEST_CASE("a hello of another version is read so that it can be refused in words") {
  const auto decoded = decode_agent_to_daemon(
      R"({"type":"hello","protocol":2,"token":"t","node":"n","slots":1,"slot_type":"cpu","price_per_slot_hour":"1","running":[]})");
  REQUIRE(decoded.ok());
  CHECK(std::get<AgentHello>(*decoded).protocol == 2);
}

TEST_CASE("a wrong line is refused with the place and what would be right") {
  struct Case {
    const char* line;
    const char* words;
  };
  const Case cases[] = {
      {"", "not valid JSON"},
      {"null", "type is needed"},
      {"[]", "must be an object"},
      {"{}", "type is needed"},
      {R"({"type":7})", "type must be a text"},
      {R"({"type":"stopp","worker":"w-1","grace_ms":1})", "did you mean \"stop\""},
      {R"({"type":"stop","worker":"w-1","grace_ms":1,"grace":2})", "/grace is not a field here"},
      {R"({"type":"stop","worker":"w-1"})", "grace_ms is needed"},
      {R"({"type":"stop","worker":"w-1","grace_ms":-1})", "it must lie between 0"},
      {R"({"type":"stop","worker":"job-1","grace_ms":1})", "must be an id such as \"w-3\""},
      {R"({"type":"stop","worker":"w-01","grace_ms":1})", "must be an id such as \"w-3\""},
      {R"({"type":"stop","worker":5,"grace_ms":1})", "worker must be a text"},
      {R"({"type":"stop","worker":null,"grace_ms":1})", "worker is needed"},
      {R"({"type":"start","worker":"w-1","job":"job-1","slots":[0],"gpus":null,"program":"p","argv":[],"env":{},"workdir":"","spec":{}})",
       "gpus must be true or false"},
      {R"({"type":"stop","type":"stop","worker":"w-1","grace_ms":1})", "appears twice"},
      {R"({"type":"ack","report":0})", "it must lie between 1"},
      {R"({"type":"ack","report":1.5})", "must be a whole number"},
      {R"({"type":"log_read","request":1,"worker":"w-1","offset":0,"limit":65537})", "between 1 and 65536"},
      {R"({"type":"to_worker","worker":"w-1","message":{"type":"generation","number":1,"members":["w-1","x"],"after_failure":false,"park":false}})",
       "/message/members/1 must be an id such as \"w-3\""},
      {R"({"type":"to_worker","worker":"w-1","message":{"type":"generation","number":1,"members":["w-1"],"after_failure":false,"park":true}})",
       "members must be empty when park is true"},
      {R"({"type":"welcome","protocol":1,"node":"node-1","heartbeat_ms":1,"patience_ms":1})", "cluster is needed"},
      {R"({"type":"to_worker","worker":"w-1"})", "/message is needed"},
      {R"({"type":"to_worker","worker":"w-1","message":{"type":"addresses","generation":1,"blobs":["Zg"]}})",
       "/message/blobs/0 must be base64"},
      {R"({"type":"start","worker":"w-1","job":"job-1","slots":[-1],"gpus":false,"program":"p","argv":[],"env":{},"workdir":"","spec":{}})",
       "/slots/0 is -1; it must lie between 0"},
      {R"({"type":"start","worker":"w-1","job":"job-1","slots":[0],"gpus":false,"program":"p","argv":[],"env":{"A":1},"workdir":"","spec":{}})",
       "/env/A must be a text"},
      {R"({"type":"start","worker":"w-1","job":"job-1","slots":[0],"gpus":false,"program":"p","argv":[],"env":{},"workdir":"","spec":[]})",
       "spec must be the job's document"},
      {R"({"type":"heartbeat"})", "is not known here"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.line);
    CHECK_THAT(refusal(decode_daemon_to_agent(bad.line)), Catch::Contains(bad.words));
  }
  CHECK_THAT(refusal(decode_worker_to_agent(R"({"type":"ready","protocol":2})")), Catch::Contains("between 1 and 1"));
  CHECK_THAT(refusal(decode_worker_to_agent(R"({"type":"pulse","step":1,"phase":"asleep","stuck_after_ms":5})")),
             Catch::Contains("must be one of waiting, computing, reducing, switching"));
  CHECK_THAT(refusal(decode_worker_to_agent(R"({"type":"address","generation":1,"rank":0,"blob":"?"})")),
             Catch::Contains("must be base64"));
  CHECK_THAT(refusal(decode_agent_to_daemon(
                 R"({"type":"worker_exited","report":1,"worker":"w-1","exit_code":256,"signal":0,"detail":""})")),
             Catch::Contains("between -1 and 255"));
  CHECK_THAT(
      refusal(decode_agent_to_daemon(
          R"({"type":"slots_held","worker":"w-1","for_ms":5000,"why":"","exit_code":256,"signal":0,"detail":""})")),
      Catch::Contains("between -1 and 255"));
}

TEST_CASE("counts and lengths that a worker tells are bounded") {
  const auto steps = [](const std::string& steps, const std::string& last, const std::string& compute_us) {
    return R"({"type":"steps","generation":0,"last_step":)" + last + R"(,"steps":)" + steps +
           R"(,"elapsed_us":5,"samples":1,"loss":null,"epoch":0,"compute_us":)" + compute_us +
           R"(,"global_batch":1,"noise_scale":null,"samples_total":1,"shares":0})";
  };
  CHECK(decode_worker_to_agent(steps("2", "4", "[1,2]")).ok());
  const std::string long_path =
      R"({"type":"restored","generation":1,"step":1,"bytes":1,"path":")" + std::string(4097, 'x');
  CHECK_THAT(refusal(decode_worker_to_agent(long_path + "\"}")), Catch::Contains("path must be at most 4096 bytes"));
  const std::string blob = R"({"type":"address","generation":1,"rank":0,"blob":")" + std::string(180'000, 'A') + "\"}";
  CHECK_THAT(refusal(decode_worker_to_agent(blob)), Catch::Contains("blob must be at most 131072 bytes"));
  CHECK_THAT(refusal(decode_worker_to_agent(steps("0", "4", "[]"))), Catch::Contains("between 1 and 1000000"));
  CHECK_THAT(refusal(decode_worker_to_agent(steps("4611686018427387905", "4611686018427387905", "[1,1,1,1]"))),
             Catch::Contains("last_step is 4611686018427387905; it must lie between"));
}

TEST_CASE("names and devices that an agent tells are bounded") {
  const std::string longest(63, 'x');
  const auto hello = [](const std::string& type) {
    return encode(AgentToDaemon(AgentHello{.token = "t", .node = "n", .slots = 1, .slot_type = type}));
  };
  CHECK(decode_agent_to_daemon(hello(longest)).ok());
  CHECK_THAT(refusal(decode_agent_to_daemon(hello(longest + "x"))),
             Catch::Contains("slot_type must be at most 63 bytes"));
  const auto probed = [](const std::string& device, std::size_t count) {
    return encode(AgentToDaemon(ProbedReport{std::vector<DeviceFigure>(count, {device, 10, 2})}));
  };
  CHECK(decode_agent_to_daemon(probed(longest, 1'025)).ok());
  CHECK_THAT(refusal(decode_agent_to_daemon(probed(longest + "x", 1))),
             Catch::Contains("device must be at most 63 bytes"));
  CHECK_THAT(refusal(decode_agent_to_daemon(probed("cpu", 1'026))), Catch::Contains("devices must be at most 1025"));
}

TEST_CASE("what agents find and know each other by is bounded") {
  const std::string longest(128, 'x');
  const auto wanted = [](const std::string& key) {
    return decode_agent_to_daemon(encode(AgentToDaemon(StateWantedReport{.job = JobId(1), .step = 2, .key = key})));
  };
  CHECK(wanted(longest).ok());
  CHECK_THAT(refusal(wanted(longest + "x")), Catch::Contains("key must be at most 128 bytes"));
  const auto offered = [](const std::string& ticket, const std::string& host, const std::string& key) {
    return decode_agent_to_daemon(encode(
        AgentToDaemon(StateOfferedReport{.request = 1, .ticket = ticket, .host = host, .port = 4'321, .key = key})));
  };
  CHECK(offered(longest, longest, longest).ok());
  CHECK_THAT(refusal(offered(longest + "x", "h", "k")), Catch::Contains("ticket must be at most 128 bytes"));
  CHECK_THAT(refusal(offered("t", longest + "x", "k")), Catch::Contains("host must be at most 128 bytes"));
  CHECK_THAT(refusal(offered("t", "h", longest + "x")), Catch::Contains("key must be at most 128 bytes"));
}

}  // namespace tidepool::api
