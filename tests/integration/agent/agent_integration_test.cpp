// The real agentd with real processes against a daemon's end of the protocol.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "base/log/open_files.hpp"
#include "tests/integration/agent/daemon_stand_in.hpp"
#include "tests/support/open_file_limit.hpp"

namespace tidepool {
namespace {

using test::AgentProcess;
using test::DaemonStandIn;
using test::eventually;
using test::LineEnd;
using test::process_lives;

const WorkerId kW1(1);

// A daemon, an agent that it has welcomed, and the folder they live in.
struct Node {
  explicit Node(std::vector<std::string> more = {}) : agent(folder.path(), arguments(std::move(more))) {}

  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all = {"--daemon-socket", (folder / "d.sock").string(),
                                    "--state-dir",     (folder / "s").string(),
                                    "--node",          "here",
                                    "--slots",         "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::filesystem::path state(const std::string& name) const { return folder / "s" / name; }

  test::TemporaryFolder folder;
  DaemonStandIn daemon{folder / "d.sock"};
  AgentProcess agent;
};

pid_t number_after(const std::string& log, const std::string& word) {
  return static_cast<pid_t>(std::stol(log.substr(log.find(word) + word.size())));
}

}  // namespace

TEST_CASE("the hello says what the node offers, and heartbeats follow at the daemon's pace") {
  Node node({"--price", "2.50", "--slot-type", "slow"});
  const auto hello = node.daemon.welcome(20);
  CHECK(hello.node == "here");
  CHECK(hello.slots == 2);
  CHECK(hello.slot_type == "slow");
  CHECK(hello.price_per_slot_hour == "2.50");
  CHECK(hello.running.empty());
  for (int i = 0; i < 3; ++i) (void)node.daemon.next<api::AgentHeartbeat>();
}

TEST_CASE("an agent that was started with few open files allowed raises its limit, and its workers inherit it") {
  const test::OpenFileLimit limit;
  limit.set_soft(256);
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo limit $(ulimit -n) end");
  const auto wanted = std::min<rlim_t>(kOpenFilesWanted, limit.hard());
  CHECK(node.daemon.log_with(kW1, "end") == "limit " + std::to_string(wanted) + " end\n");
}

TEST_CASE("a worker runs with its job's document, its log is readable while it runs and its exit is told") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1,
                    "cat \"$TIDEPOOL_JOB_FILE\"; echo $TIDEPOOL_WORKER $TIDEPOOL_JOB; read line; echo no >&2; exit 3");
  const auto report = node.daemon.exit_of(kW1);
  CHECK(report.exit_code == 3);
  CHECK(report.signal == 0);
  CHECK(report.detail == "last output: \"no\"");
  const auto log = node.daemon.read_log(kW1, 0);
  CHECK(log.data == "{\"name\":\"demo\"}\nw-1 job-1\nno\n");
  CHECK(log.eof);
}

TEST_CASE("a log is followed by its offsets until the worker ends") {
  Node node;
  (void)node.daemon.welcome();
  const auto gate = node.folder / "gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  node.daemon.start(kW1, "echo one; cat " + gate.string() + "; echo two");
  (void)node.daemon.log_with(kW1, "one\n");
  const auto first = node.daemon.read_log(kW1, 0);
  CHECK_FALSE(first.eof);
  CHECK(first.next_offset == 4);
  CHECK(node.daemon.read_log(kW1, 4).data.empty());
  {
    const std::ofstream open_the_gate(gate);
  }
  (void)node.daemon.exit_of(kW1);
  const auto rest = node.daemon.read_log(kW1, first.next_offset);
  CHECK(rest.data == "two\n");
  CHECK(rest.eof);
  CHECK(node.daemon.read_log(kW1, -4, 3).data == "two");
}

TEST_CASE("a stop ends the whole group, grandchildren too") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "sh -c 'trap \"\" TERM; echo grandchild $$; while :; do sleep 60; done' & wait");
  const pid_t grandchild = number_after(node.daemon.log_with(kW1, "grandchild"), "grandchild ");
  CHECK(process_lives(grandchild));
  // The leader obeys SIGTERM, the grandchild does not; it may not outlive the leader.
  node.daemon.send(api::StopWorker{.worker = kW1, .grace_ms = 60'000});
  const auto report = node.daemon.exit_of(kW1);
  CHECK(report.signal == SIGTERM);
  CHECK(report.exit_code == -1);
  eventually("the grandchild to end", [&] { return !process_lives(grandchild); });
}

TEST_CASE("a worker that leaves children behind takes them along when it ends by itself") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "sleep 600 & echo child $!; exit 0");
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
  const pid_t child = number_after(node.daemon.log_with(kW1, "child"), "child ");
  eventually("the child to end", [&] { return !process_lives(child); });
}

TEST_CASE("a worker that ignores SIGTERM is killed when the grace is over, and at once without grace") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done");
  (void)node.daemon.log_with(kW1, "ready");
  node.daemon.send(api::StopWorker{.worker = kW1, .grace_ms = 300});
  CHECK(node.daemon.exit_of(kW1).signal == SIGKILL);
  CHECK_THAT(node.daemon.read_log(kW1, 0).data, Catch::Contains("asked"));

  node.daemon.start(WorkerId(2), "trap 'echo asked' TERM; echo ready; while :; do sleep 60; done");
  (void)node.daemon.log_with(WorkerId(2), "ready");
  node.daemon.send(api::StopWorker{.worker = WorkerId(2), .grace_ms = 0});
  CHECK(node.daemon.exit_of(WorkerId(2)).signal == SIGKILL);
  CHECK(node.daemon.read_log(WorkerId(2), 0).data == "ready\n");
}

TEST_CASE("what cannot start is told in a sentence, as a mistake in the job's settings") {
  Node node;
  (void)node.daemon.welcome();
  api::StartWorker order{.worker = kW1, .job = JobId(1), .slots = {0}, .program = "/no/such/program"};
  node.daemon.send(order);
  auto report = node.daemon.exit_of(kW1);
  CHECK(report.exit_code == 2);
  CHECK(report.detail == "could not start /no/such/program: No such file or directory");

  order = {.worker = WorkerId(2), .job = JobId(1), .slots = {0}, .program = "/bin/sh", .workdir = "/no/such/folder"};
  node.daemon.send(order);
  report = node.daemon.exit_of(WorkerId(2));
  CHECK(report.exit_code == 2);
  CHECK(report.detail == "could not enter the working directory /no/such/folder: No such file or directory");

  order = {.worker = WorkerId(3), .job = JobId(1), .slots = {0}, .program = "tidepool-no-such-trainer"};
  node.daemon.send(order);
  report = node.daemon.exit_of(WorkerId(3));
  CHECK(report.exit_code == 2);
  CHECK_THAT(report.detail, Catch::Contains("could not start tidepool-no-such-trainer: No such file or directory"));
}

TEST_CASE("a worker gets no descriptor of the agent and dies of the signals it should") {
  Node node;
  (void)node.daemon.welcome();
  // Descriptor 3 is the folder that ls itself has open.
  node.daemon.start(
      kW1, "ls /proc/self/fd | tr '\\n' ' '; grep -E 'SigIgn|SigBlk' /proc/self/status; readlink /proc/self/fd/0");
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
  const std::string log = node.daemon.read_log(kW1, 0).data;
  CHECK_THAT(log, Catch::StartsWith("0 1 2 3 Sig"));
  CHECK_THAT(log, Catch::Contains("SigBlk:\t0000000000000000"));
  CHECK_THAT(log, Catch::Contains("SigIgn:\t0000000000000000"));
  CHECK_THAT(log, Catch::Contains("/dev/null"));
}

TEST_CASE("a worker id is never started twice") {
  Node node;
  (void)node.daemon.welcome();
  const std::string script = "echo ran >> " + (node.folder / "runs").string();
  node.daemon.start(kW1, script + "; exit 7");
  const auto report = node.daemon.exit_of(kW1);
  node.daemon.acknowledge(report);
  node.daemon.start(kW1, script);
  const auto again = node.daemon.exit_of(kW1);
  CHECK(again.exit_code == 7);
  CHECK(again.report == report.report);
  std::string runs;
  std::getline(std::ifstream(node.folder / "runs"), runs, '\0');
  CHECK(runs == "ran\n");
}

TEST_CASE("an exit is repeated after every reconnect until it is acknowledged, and then its files go") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "exit 0");
  const auto report = node.daemon.exit_of(kW1);
  CHECK(std::filesystem::exists(node.state("work/w-1/job.json")));
  for (int i = 0; i < 2; ++i) {
    node.daemon.hang_up();
    CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});  // until its end has been heard
    CHECK(node.daemon.exit_of(kW1).report == report.report);
  }
  node.daemon.acknowledge(report);
  eventually("the worker's files to go", [&] {
    return !std::filesystem::exists(node.state("work/w-1")) && !std::filesystem::exists(node.state("workers/w-1.json"));
  });
  CHECK(std::filesystem::exists(node.state("logs/w-1.log")));
  node.daemon.hang_up();
  CHECK(node.daemon.welcome(20).running.empty());
  // A report would come before the first heartbeat.
  node.daemon.start(WorkerId(2), "exit 1");
  CHECK(node.daemon.next<api::WorkerExitedReport>().worker == WorkerId(2));
}

TEST_CASE("workers live on while the daemon is away, and are in the hello when it is back") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo up; sleep 600");
  (void)node.daemon.log_with(kW1, "up");
  node.daemon.die();
  node.daemon.rise();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  node.daemon.send(api::StopWorker{.worker = kW1, .grace_ms = 0});
  CHECK(node.daemon.exit_of(kW1).signal == SIGKILL);
}

TEST_CASE("a worker and the daemon speak through the agent, also across a worker's absence") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo up; sleep 600");
  (void)node.daemon.log_with(kW1, "up");
  // Said before the worker has connected: it waits.
  node.daemon.send(api::ToWorkerOrder{.worker = kW1, .message = api::GenerationMessage{.number = 1, .members = {kW1}}});

  auto worker = LineEnd::connect_to(node.state("w.sock"));
  worker.send(encode(api::WorkerToAgent(api::WorkerHello{.worker = kW1, .pid = 1})));
  const auto line = worker.receive();
  REQUIRE(line.has_value());
  CHECK(std::get<api::GenerationMessage>(api::decode_to_worker(*line).value()).number == 1);
  worker.send(encode(api::WorkerToAgent(api::FromWorker(api::ReadyMessage{.generation = 1}))));
  const auto said = node.daemon.next<api::FromWorkerReport>();
  CHECK(said.worker == kW1);
  CHECK(std::get<api::ReadyMessage>(said.message).generation == 1);

  // The daemon comes back: nothing that was said meanwhile is lost, and the worker is asked where it is.
  node.daemon.die();
  worker.send(encode(api::WorkerToAgent(api::FromWorker(api::FinishedMessage{.last_step = 5, .loss = 1}))));
  node.daemon.rise();
  (void)node.daemon.welcome();
  CHECK(std::holds_alternative<api::FinishedMessage>(node.daemon.next<api::FromWorkerReport>().message));
  CHECK_FALSE(worker.receive().has_value());
  node.daemon.send(api::ToWorkerOrder{.worker = kW1, .message = api::GenerationMessage{.number = 2, .members = {kW1}}});
  worker = LineEnd::connect_to(node.state("w.sock"));
  worker.send(encode(api::WorkerToAgent(api::WorkerHello{.worker = kW1, .pid = 1})));
  const auto next = worker.receive();
  REQUIRE(next.has_value());
  CHECK(std::get<api::GenerationMessage>(api::decode_to_worker(*next).value()).number == 2);
}

TEST_CASE("what a worker says last comes before its exit") {
  Node node;
  (void)node.daemon.welcome();
  const auto gate = node.folder / "gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  node.daemon.start(kW1, "echo pid $$; cat " + gate.string());
  const pid_t pid = number_after(node.daemon.log_with(kW1, "\n"), "pid ");
  auto worker = LineEnd::connect_to(node.state("w.sock"));
  worker.send(encode(api::WorkerToAgent(api::WorkerHello{.worker = kW1, .pid = pid})));
  {
    const std::ofstream open_the_gate(gate);
  }
  eventually("the worker to be reaped", [&] { return ::kill(pid, 0) != 0; });
  // The process is gone; its link, which the test holds, still has something to say.
  worker.send(encode(api::WorkerToAgent(api::FromWorker(api::FinishedMessage{.last_step = 9, .loss = 2}))));
  worker.close();
  const auto said = node.daemon.next<api::FromWorkerReport>();
  CHECK(std::get<api::FinishedMessage>(said.message).last_step == 9);
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
}

TEST_CASE("a client that is no worker here, or does not speak the protocol, is refused") {
  Node node;
  (void)node.daemon.welcome();
  const auto refused = [&](const std::string& line) {
    auto worker = LineEnd::connect_to(node.state("w.sock"));
    worker.send(line);
    return !worker.receive().has_value();
  };
  CHECK(refused(encode(api::WorkerToAgent(api::WorkerHello{.worker = WorkerId(99)}))));
  CHECK(refused(encode(api::WorkerToAgent(api::FromWorker(api::ReadyMessage{})))));
  CHECK(refused("GET / HTTP/1.1\r\n\r\n"));
  CHECK_THAT(node.agent.output(), Catch::Contains("w-99 does not live on this node"));
  node.daemon.start(kW1, "exit 0");
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
}

TEST_CASE("a daemon that sends nonsense is left and asked again") {
  Node node;
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo up; sleep 600");
  (void)node.daemon.log_with(kW1, "up");
  node.daemon.send(api::AgentWelcome{.node = NodeId(2), .cluster = "here"});
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
}

}  // namespace tidepool
