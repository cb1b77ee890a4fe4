// An agent ends, well or badly; its workers must not notice, and the next agent must know them.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>

#include "tests/integration/agent/daemon_stand_in.hpp"
#include "workers/agent/system/child_process.hpp"

namespace tidepool {
namespace {

using test::AgentProcess;
using test::DaemonStandIn;
using test::eventually;
using test::process_lives;

const WorkerId kW1(1);

// A node whose agent the test starts and ends.
struct Node {
  AgentProcess agent(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"--daemon-socket", (folder / "d.sock").string(),
                                    "--state-dir",     (folder / "s").string(),
                                    "--node",          "here",
                                    "--slots",         "2"};
    all.insert(all.end(), more.begin(), more.end());
    return AgentProcess(folder.path(), std::move(all));
  }
  // Starts a worker that ends when it is told to; its pid.
  pid_t start_waiting_worker(const std::string& then) {
    REQUIRE(::mkfifo((folder / "gate").c_str(), 0600) == 0);
    daemon.start(kW1, "echo pid $$; cat " + (folder / "gate").string() + "; " + then);
    const std::string log = daemon.log_with(kW1, "pid");
    return static_cast<pid_t>(std::stol(log.substr(4)));
  }
  void open_the_gate() const { const std::ofstream gate(folder / "gate"); }

  test::TemporaryFolder folder;
  DaemonStandIn daemon{folder / "d.sock"};
};

// Since boot, as /proc tells start times.
std::int64_t clock_ticks() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return (std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec) / (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
}

// While it lives, orphans become children of this test, which decides when they are reaped.
struct AdoptOrphans {
  AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

void kill_hard(AgentProcess& agent) {
  agent.signal(SIGKILL);
  CHECK(agent.wait() == -SIGKILL);
}

}  // namespace

TEST_CASE("a killed agent's workers go on, and the next agent adopts them and tells their exit") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  const pid_t worker = node.start_waiting_worker("echo after; exit 5");
  kill_hard(first);
  CHECK(process_lives(worker));

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  node.open_the_gate();
  const auto report = node.daemon.exit_of(kW1);
  // The kernel may be too old to say how a process ended that is not the agent's child.
  if (report.exit_code == -1) {
    CHECK(report.detail == "exited while adopted; exit code unknown");
  } else {
    CHECK(report.exit_code == 5);
    CHECK(report.detail == "last output: \"after\"");
  }
  CHECK_THAT(node.daemon.read_log(kW1, 0).data, Catch::EndsWith("after\n"));
  node.daemon.start(kW1, "exit 0");
  CHECK(node.daemon.exit_of(kW1).report == report.report);
}

// A restartable worker's program of generation 1, as the daemon's words start it.
void take_seat(Node& node, const std::string& script) {
  node.daemon.send(api::StartWorker{.worker = kW1,
                                    .job = JobId(1),
                                    .slots = {0},
                                    .program = "/bin/sh",
                                    .argv = {"-c", script},
                                    .env = {},
                                    .workdir = node.folder.path().string(),
                                    .restart_grace_ms = 10'000});
}

// What the worker says next of this kind.
template <class Message>
Message said(Node& node) {
  for (;;) {
    const auto report = node.daemon.next<api::FromWorkerReport>();
    if (const auto* message = std::get_if<Message>(&report.message)) return *message;
  }
}

void launch(Node& node, GenerationNumber generation) {
  node.daemon.send(api::ToWorkerOrder{kW1, api::GenerationMessage{.number = generation, .members = {kW1}}});
  auto address = said<api::AddressMessage>(node);
  // An agent that has just come says first where the worker stood before.
  while (address.generation < generation) address = said<api::AddressMessage>(node);
  REQUIRE(address.generation == generation);
  node.daemon.send(api::ToWorkerOrder{kW1, api::AddressesMessage{generation, {address.blob}}});
  CHECK(said<api::StartedMessage>(node).generation == generation);
}

TEST_CASE("an agent that dies before a restartable worker's first program leaves the worker to the next agent") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  take_seat(node, "echo runs; sleep 600");
  (void)said<api::ReadyMessage>(node);
  kill_hard(first);

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  (void)said<api::ReadyMessage>(node);
  launch(node, 1);
  CHECK_THAT(node.daemon.log_with(kW1, "runs"), Catch::Contains("runs"));
}

TEST_CASE("an agent that dies between two programs of a restartable worker leaves the worker to the next agent") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  take_seat(node, "trap 'exit 0' TERM; echo runs as $TIDEPOOL_WORKER; sleep 600 & wait");
  (void)said<api::ReadyMessage>(node);
  launch(node, 1);
  (void)node.daemon.log_with(kW1, "runs as");
  node.daemon.send(api::ToWorkerOrder{kW1, api::GenerationMessage{.number = 2, .members = {kW1}}});
  CHECK(said<api::AddressMessage>(node).generation == 2);  // the program of generation 1 has ended
  kill_hard(first);

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  launch(node, 2);
}

TEST_CASE("a restartable worker's program that ended while no agent watched is told as ended, and the worker stays") {
  const AdoptOrphans adopt;
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  take_seat(node, "echo pid $$; sleep 600");
  (void)said<api::ReadyMessage>(node);
  launch(node, 1);
  const auto program = static_cast<pid_t>(std::stol(node.daemon.log_with(kW1, "pid").substr(4)));
  kill_hard(first);
  REQUIRE(::kill(program, SIGKILL) == 0);
  REQUIRE(::waitpid(program, nullptr, 0) == program);

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  const auto ended = said<api::EndedMessage>(node);
  CHECK(ended.generation == 1);
  CHECK(ended.exit_code == -1);
  CHECK(ended.detail == "exited while no agent watched it; exit code unknown");
  launch(node, 2);
}

TEST_CASE("a restartable worker that was taken while the disk was full is on record before its program runs") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  (void)node.daemon.read_log(kW1, 0);  // answered once the welcome is on record
  first.fill_disk(true);
  take_seat(node, "echo pid $$; sleep 600");
  (void)said<api::ReadyMessage>(node);
  first.fill_disk(false);
  launch(node, 1);
  const auto program = static_cast<pid_t>(std::stol(node.daemon.log_with(kW1, "pid").substr(4)));
  kill_hard(first);

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  CHECK(process_lives(program));
}

TEST_CASE("an agent whose disk is full starts no worker, says why, and starts some again once there is room") {
  Node node;
  auto agent = node.agent();
  (void)node.daemon.welcome();
  (void)node.daemon.read_log(kW1, 0);  // answered once the welcome is on record
  agent.fill_disk(true);
  node.daemon.start(kW1, "echo must not run");
  const auto report = node.daemon.exit_of(kW1);
  CHECK(report.exit_code == -1);
  CHECK_THAT(report.detail, Catch::Contains("cannot write its state directory"));
  agent.fill_disk(false);
  node.daemon.start(WorkerId(2), "exit 0");
  CHECK(node.daemon.exit_of(WorkerId(2)).exit_code == 0);
}

TEST_CASE("a restartable worker whose program finds no room on the disk leaves the node, and its exit says why") {
  Node node;
  auto agent = node.agent();
  (void)node.daemon.welcome();
  take_seat(node, "echo must not run");
  (void)said<api::ReadyMessage>(node);
  agent.fill_disk(true);
  launch(node, 1);
  const auto report = node.daemon.exit_of(kW1);
  CHECK(report.exit_code == -1);
  CHECK(report.signal == 0);
  CHECK_THAT(report.detail, Catch::Contains("cannot write to the state directory"));
}

TEST_CASE("an adopted worker is stopped like any other, with its children") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "sh -c 'trap \"\" TERM; echo child $$; while :; do sleep 60; done' & wait");
  const std::string log = node.daemon.log_with(kW1, "child");
  const auto child = static_cast<pid_t>(std::stol(log.substr(6)));
  kill_hard(first);
  auto second = node.agent();
  (void)node.daemon.welcome();
  node.daemon.send(api::StopWorker{.worker = kW1, .grace_ms = 60'000});
  (void)node.daemon.exit_of(kW1);
  eventually("the child to end", [&] { return !process_lives(child); });
}

TEST_CASE("a worker that ended while no agent ran is told by the next one, and what it left is cleared") {
  // The next agent finds it as a zombie of ours, or finds nothing.
  const bool reaped = GENERATE(false, true);
  const AdoptOrphans adopt;
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo pid $$; sleep 600 & echo child $!; wait");
  const std::string log = node.daemon.log_with(kW1, "child");
  const auto worker = static_cast<pid_t>(std::stol(log.substr(4)));
  const auto child = static_cast<pid_t>(std::stol(log.substr(log.find("child ") + 6)));
  kill_hard(first);
  REQUIRE(::kill(worker, SIGKILL) == 0);
  eventually("the worker to end", [&] { return !process_lives(worker); });
  if (reaped) REQUIRE(::waitpid(worker, nullptr, 0) == worker);
  CHECK(process_lives(child));

  auto second = node.agent();
  (void)node.daemon.welcome();
  const auto report = node.daemon.exit_of(kW1);
  CHECK(report.exit_code == -1);
  CHECK(report.signal == (reaped ? 0 : SIGKILL));
  if (reaped) CHECK(report.detail == "exited while no agent watched it; exit code unknown");
  eventually("the child to end", [&] { return !process_lives(child); });
  if (!reaped) CHECK(::waitpid(worker, nullptr, 0) == worker);
}

TEST_CASE("a process that has a former worker's pid is neither taken for it nor harmed") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  const pid_t worker = node.start_waiting_worker("exit 0");
  kill_hard(first);
  REQUIRE(::kill(worker, SIGKILL) == 0);
  const auto path = node.folder / "s/workers/w-1.json";
  auto record = nlohmann::json::parse(std::ifstream(path));
  // An innocent process, under the pid that the record names, with another start time, which counts clock ticks.
  eventually("a later clock tick", [&] { return clock_ticks() > record.at("start_time").get<std::int64_t>(); });
  const agent::UniqueFd output(::open((node.folder / "innocent.log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const agent::ChildSpec innocent{.program = "/bin/sleep", .argv = {"sleep", "600"}, .output = output.get()};
  const auto other = agent::start_child(innocent, [](pid_t) { return ok_status(); });
  REQUIRE(other.ok());
  record["pid"] = other->pid;
  std::ofstream(path) << record;

  auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});  // to be heard of as ended
  CHECK(node.daemon.exit_of(kW1).exit_code == -1);
  CHECK(process_lives(other->pid));
  ::kill(other->pid, SIGKILL);
  ::waitpid(other->pid, nullptr, 0);
}

TEST_CASE("an exit that was not acknowledged before the agent died is told by the next one") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  node.daemon.start(kW1, "echo why >&2; exit 4");
  const auto report = node.daemon.exit_of(kW1);
  kill_hard(first);
  auto second = node.agent();
  (void)node.daemon.welcome();
  const auto again = node.daemon.exit_of(kW1);
  CHECK(again.report == report.report);
  CHECK(again.exit_code == 4);
  CHECK(again.detail == "last output: \"why\"");
}

TEST_CASE("told to end, an agent leaves its workers alive; with --stop-workers it stops them") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  const pid_t worker = node.start_waiting_worker("exit 0");
  first.signal(SIGTERM);
  CHECK(first.wait() == 0);
  CHECK(process_lives(worker));

  auto second = node.agent({"--stop-workers"});
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  second.signal(SIGTERM);
  CHECK(node.daemon.exit_of(kW1).worker == kW1);
  CHECK(second.wait() == 0);
  eventually("the worker to end", [&] { return !process_lives(worker); });
}

TEST_CASE("a second agent on one state directory is refused and told the pid of the first") {
  Node node;
  auto first = node.agent();
  (void)node.daemon.welcome();
  auto second = node.agent();
  CHECK(second.wait() == 1);
  CHECK_THAT(second.output(), Catch::Contains("another agent (pid "));
  auto embedded = node.agent({"--exit-when-idle", "1h"});
  CHECK(embedded.wait() == 0);
  node.daemon.start(kW1, "exit 0");
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
}

TEST_CASE("an agent that has neither daemon nor worker ends by itself when told so") {
  Node node;
  node.daemon.die();
  auto agent = node.agent({"--exit-when-idle", "200ms"});
  CHECK(agent.wait() == 0);
  CHECK_THAT(agent.output(), Catch::Contains("no daemon and no worker for 200ms"));
}

TEST_CASE("an agent that cannot run says what to do") {
  Node node;
  const auto token = node.folder / "token";
  std::ofstream(token) << "secret\n";
  std::filesystem::permissions(token, std::filesystem::perms::owner_all | std::filesystem::perms::group_read);
  auto open_token = node.agent({"--token-file", token.string()});
  CHECK(open_token.wait() == 1);
  CHECK_THAT(open_token.output(), Catch::Contains("chmod 600"));

  std::ofstream(node.folder / "file") << "";
  AgentProcess no_folder(node.folder.path(), {"--daemon-socket", "/d", "--state-dir", (node.folder / "file").string()});
  CHECK(no_folder.wait() == 1);
  CHECK_THAT(no_folder.output(), Catch::Contains("is not a folder"));

  AgentProcess too_long(node.folder.path(), {"--daemon-socket", "/d", "--slots", "1", "--state-dir",
                                             (node.folder / std::string(100, 'x')).string()});
  CHECK(too_long.wait() == 1);
  CHECK_THAT(too_long.output(), Catch::Contains("choose a shorter --state-dir"));
}

}  // namespace tidepool
