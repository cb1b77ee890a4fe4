// The links between daemon, agents and workers: away, over TCP, taken over by a newer agent, and with an agent that
// died.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include "api/worker_protocol.hpp"
#include "tests/support/live_job.hpp"

namespace tidepool::test {
namespace {

// The agent that runs for this folder; 0 = none.
pid_t agent_of(const TemporaryFolder& folder) {
  for (const pid_t pid : processes_with((folder / "state/agent.sock").string())) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    if (std::getline(file, name) && name == "agentd") return pid;
  }
  return 0;
}

// How long the daemon stays away; TIDEPOOL_AWAY_S=60 for the long version.
int seconds_away() {
  const char* told = std::getenv("TIDEPOOL_AWAY_S");
  return told == nullptr ? 5 : std::atoi(told);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// An agent of its own, ended with the test.
class AgentProcess {
 public:
  explicit AgentProcess(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), *built_program("agentd"));
    arguments.insert(arguments.end(), {"--isolation", "none"});
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ~AgentProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

 private:
  pid_t pid_ = 0;
};

// An agent's link in the test's own hands.
class RawAgent {
 public:
  RawAgent(const TemporaryFolder& folder, std::vector<WorkerId> running) {
    const std::string path = (folder / "state/agent.sock").string();
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    say(api::AgentHello{.token = first_line((folder / "state/agent.token").string()),
                        .node = "ghost",
                        .slots = 2,
                        .slot_type = "cpu",
                        .price_per_slot_hour = "1.00",
                        .running = std::move(running)});
  }
  ~RawAgent() { ::close(socket_); }
  RawAgent(const RawAgent&) = delete;
  RawAgent& operator=(const RawAgent&) = delete;

  bool say(const api::AgentToDaemon& message) const {
    const std::string line = api::encode(message);
    return ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
  }
  bool say(WorkerId worker, api::FromWorker message) const {
    return say(api::FromWorkerReport{.worker = worker, .message = std::move(message)});
  }
  // Waits for a message of this kind, reading what comes before it; none once the daemon has closed the link.
  template <class Message>
  std::optional<Message> next() {
    std::string line;
    while (true) {
      while (lines_.next(line)) {
        const auto message = api::decode_daemon_to_agent(line);
        if (message.ok() && std::holds_alternative<Message>(*message)) return std::get<Message>(*message);
      }
      if (!read_more()) return std::nullopt;
    }
  }
  // The daemon has ended the link.
  bool ended() {
    while (read_more()) {
    }
    return closed_;
  }

 private:
  bool read_more() {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 20'000) <= 0) return false;
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    closed_ = count <= 0;
    return !closed_ && lines_.append({bytes, static_cast<std::size_t>(count)}).ok();
  }

  int socket_ = -1;
  bool closed_ = false;
  api::LineBuffer lines_;
};

}  // namespace

TEST_CASE("a daemon that was away loses no step, and serves on its return what it is asked for") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  const DaemonProcess::Options options{.arguments = {"--local-slots", "2"}};
  auto job = job_on(folder, 1'000'000);
  job["elastic"]["preferred"] = 1;
  int step_before = 0;
  {
    DaemonProcess daemon(folder, options);
    REQUIRE(daemon.wait_ready());
    HttpClient client = daemon.client();
    REQUIRE(client.post("/v1/jobs", job).status == 201);
    REQUIRE(reaches_step(client, 100));
    step_before = job_of(client)["progress"]["step"];
    daemon.signal(SIGKILL);
    CHECK(daemon.wait_exit() == -SIGKILL);
  }
  const auto workers = workers_of(folder);
  REQUIRE(workers.size() == 1);
  const auto back_at = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_away());
  const auto logged = log_bytes(folder);
  CHECK(eventually([&] { return std::chrono::steady_clock::now() >= back_at && log_bytes(folder) > logged; },
                   seconds_away() + 60));

  DaemonProcess daemon(folder, options);
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(eventually([&] { return job_of(client)["progress"]["step"].get<int>() > step_before; }));
  REQUIRE(client.post("/v1/jobs/job-1/resize", {{"size", 2}}).status == 200);
  REQUIRE(eventually([&] { return events_of(client, "generation.switched").size() == 2; }, 120));
  const auto switched = events_of(client, "generation.switched").back();
  CHECK(switched["data"]["kind"] == "grow");
  CHECK(switched["data"]["steps_redone"] == 0);
  CHECK(switched["data"]["samples_repeated"] == 0);
  CHECK(events_of(client, "worker.lost").empty());
  CHECK(process_lives(workers.front()));
  // One worker's steps used 128 samples each, also those of lost reports; epochs end a little earlier.
  const auto progress = job_of(client)["progress"];
  CHECK(progress["samples"].get<std::int64_t>() > (progress["step"].get<std::int64_t>() - 200) * 100);
  check_audits(client);
}

TEST_CASE("a second node joins over TCP with the token, and a job trains on both") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  const std::string config = (folder / "config.yaml").string();
  std::ofstream(config) << "agents:\n  listen: 127.0.0.1:0\n";
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "1", "--config", config}});
  INFO(daemon.errors());
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  const std::string port = std::to_string(daemon.ready().at("agents_port").get<int>());
  const std::string token = (folder / "state/agent.token").string();
  const AgentProcess stranger({"--daemon", "127.0.0.1:" + port, "--state-dir", (folder / "stranger").string(), "--node",
                               "stranger", "--slots", "4", "--token-file", config});
  const AgentProcess second({"--daemon", "127.0.0.1:" + port, "--state-dir", (folder / "second").string(), "--node",
                             "second", "--slots", "1", "--token-file", token});
  auto job = job_on(folder, 1'500);
  job["elastic"] = {{"min", 2}, {"max", 2}};
  REQUIRE(client.post("/v1/jobs", job).status == 201);
  REQUIRE(ends_well(client));
  const auto nodes = client.get("/v1/nodes").json().at("items");
  std::set<std::string> names;  // in the order in which they come, which may be either
  for (const auto& node : nodes) names.insert(node.at("name").get<std::string>());
  CHECK(names == std::set<std::string>{"local", "second"});
  check_audits(client);
}

TEST_CASE("what an older link of a node still says changes nothing") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  RawAgent older(folder, {});
  const auto welcome = older.next<api::AgentWelcome>();
  REQUIRE(welcome);
  CHECK(welcome->cluster == first_line((folder / "state/cluster.id").string()));
  REQUIRE(client.post("/v1/jobs", job_on(folder, 100)).status == 201);
  REQUIRE(older.next<api::StartWorker>());

  RawAgent newer(folder, {WorkerId(1), WorkerId(2)});
  CHECK(newer.next<api::AgentWelcome>()->cluster == welcome->cluster);
  (void)older.say(api::WorkerExitedReport{.report = 1, .worker = WorkerId(1), .exit_code = 1, .detail = "a lie"});
  (void)older.say(WorkerId(2), api::ReadyMessage{});
  CHECK(older.ended());
  REQUIRE(newer.say(WorkerId(1), api::ReadyMessage{}));
  REQUIRE(newer.say(WorkerId(2), api::ReadyMessage{}));
  const auto order = newer.next<api::ToWorkerOrder>();
  REQUIRE(order);
  CHECK(std::get<api::GenerationMessage>(order->message).members == std::vector{WorkerId(1), WorkerId(2)});
  CHECK(events_of(client, "worker.lost").empty());
}

TEST_CASE("the embedded agent that died is started again, whichever daemon started it, and the workers never stopped") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  const DaemonProcess::Options options{.arguments = {"--local-slots", "2"}};
  auto daemon = std::make_unique<DaemonProcess>(folder, options);
  REQUIRE(daemon->wait_ready());
  {
    HttpClient client = daemon->client();
    REQUIRE(client.post("/v1/jobs", job_on(folder, 1'000'000)).status == 201);
    REQUIRE(reaches_step(client, 100));
  }
  const auto workers = workers_of(folder);
  REQUIRE(workers.size() == 2);
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) {
      daemon->signal(SIGKILL);
      REQUIRE(daemon->wait_exit() == -SIGKILL);
      daemon = std::make_unique<DaemonProcess>(folder, options);
      REQUIRE(daemon->wait_ready());
    }
    HttpClient client = daemon->client();
    const int step = job_of(client)["progress"]["step"];
    REQUIRE(reaches_step(client, step + 100));  // the agent is connected
    const pid_t agent = agent_of(folder);
    REQUIRE(agent != 0);
    REQUIRE(::kill(agent, SIGKILL) == 0);
    REQUIRE(eventually([&] { return agent_of(folder) != 0 && agent_of(folder) != agent; }));
    const int then = job_of(client)["progress"]["step"];
    REQUIRE(reaches_step(client, then + 200));
    for (const pid_t worker : workers) CHECK(process_lives(worker));
    CHECK(events_of(client, "worker.lost").empty());
    check_audits(client);
  }
}

}  // namespace tidepool::test
