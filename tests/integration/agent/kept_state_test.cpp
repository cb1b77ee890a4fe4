// Stuck workers, parked states and clusters with the real agentd and a real elastic worker.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/integration/agent/daemon_stand_in.hpp"

namespace tidepool {
namespace {

namespace fs = std::filesystem;
using test::eventually;

const WorkerId kW1(1);
const WorkerId kW2(2);

struct Node {
  Node()
      : agent(folder.path(), {"--daemon-socket", (folder / "d.sock").string(), "--state-dir", (folder / "s").string(),
                              "--node", "here", "--slots", "2"}) {
    (void)daemon.welcome();
  }

  // A job of one worker that has its first generation.
  void start(WorkerId worker, GenerationNumber generation, const std::map<std::string, std::string>& env = {},
             const std::vector<std::string>& argv = {}) {
    const char* bin = std::getenv("TIDEPOOL_BIN_DIR");
    daemon.send(api::StartWorker{.worker = worker,
                                 .job = JobId(1),
                                 .slots = {0},
                                 .program = std::string(bin) + "/../tests/elastic_worker",
                                 .argv = argv,
                                 .env = env});
    CHECK(std::holds_alternative<api::ReadyMessage>(daemon.next<api::FromWorkerReport>().message));
    tell(worker, api::GenerationMessage{.number = generation, .members = {worker}});
  }
  void tell(WorkerId worker, api::ToWorker message) { daemon.send(api::ToWorkerOrder{worker, std::move(message)}); }
  template <class Message>
  Message said() {
    for (;;) {
      auto report = daemon.next<api::FromWorkerReport>();
      if (auto* wanted = std::get_if<Message>(&report.message)) return std::move(*wanted);
    }
  }
  pid_t pid_of(WorkerId worker) {
    const std::string log = daemon.log_with(worker, "steps from");
    return static_cast<pid_t>(std::stol(log.substr(log.find("pid ") + 4)));
  }

  test::TemporaryFolder folder;
  test::DaemonStandIn daemon{folder / "d.sock"};
  test::AgentProcess agent;
};

std::size_t states_in(const fs::path& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    count += !it->is_symlink() && it->path().extension() == ".tidepool" ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a worker that hangs in its computation is told to the daemon") {
  Node node;
  node.start(kW1, 1, {{"TIDEPOOL_STUCK_AFTER_MS", "300"}}, {"25"});
  const auto stuck = node.daemon.next<api::WorkerStuckReport>();
  CHECK(stuck.worker == kW1);
  CHECK(stuck.step == 25);
  CHECK(stuck.phase == api::PulsePhase::kComputing);
  CHECK(stuck.for_ms >= 300);
}

TEST_CASE("a worker that is stopped is told to the daemon, though its link is open") {
  Node node;
  node.start(kW1, 1, {{"TIDEPOOL_STUCK_AFTER_MS", "400"}});
  (void)node.said<api::StepsMessage>();
  const pid_t pid = node.pid_of(kW1);
  ::kill(pid, SIGSTOP);
  CHECK(node.daemon.next<api::WorkerStuckReport>().worker == kW1);
  ::kill(pid, SIGCONT);
  (void)node.said<api::StepsMessage>();
}

TEST_CASE("a parked state moves from memory to disk once its worker has ended, and the next worker finds it") {
  Node node;
  const fs::path disk = node.folder / "kept";
  node.start(kW1, 1, {{"TIDEPOOL_CHECKPOINT_DIR", disk.string()}});
  (void)node.said<api::StepsMessage>();
  CHECK(fs::exists(node.daemon.memory_folder() / "job-1"));
  node.tell(kW1, api::GenerationMessage{.number = 2, .park = true});
  const auto parked = node.said<api::ParkedMessage>();
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
  eventually("the state to lie on disk alone",
             [&] { return states_in(disk) == 1 && !fs::exists(node.daemon.memory_folder() / "job-1"); });
  CHECK(fs::is_symlink(disk / "latest"));

  node.start(kW2, 3, {{"TIDEPOOL_CHECKPOINT_DIR", disk.string()}});
  const auto restored = node.said<api::RestoredMessage>();
  CHECK(restored.step == parked.step);
  const std::string log = node.daemon.log_with(kW2, "steps from");
  CHECK_THAT(log, Catch::Contains("steps from " + std::to_string(parked.step)));
}

TEST_CASE("a job without a folder of its own keeps its states with the agent") {
  Node node;
  node.start(kW1, 1);
  (void)node.said<api::StepsMessage>();
  node.tell(kW1, api::CheckpointOrder{});
  const auto taken = node.said<api::CheckpointedMessage>();
  const fs::path disk = node.folder / "s" / "jobs" / "job-1" / "checkpoints";
  CHECK(fs::path(taken.path).parent_path() == disk);
  node.tell(kW1, api::GenerationMessage{.number = 2, .park = true});
  (void)node.said<api::ParkedMessage>();
  eventually("both states to lie on disk", [&] { return states_in(disk) == 2; });
}

TEST_CASE("the states of a job that has ended are deleted, once no worker of it lives here, and no other job's") {
  Node node;
  const fs::path jobs = node.folder / "s" / "jobs";
  const fs::path named = node.folder / "kept";
  fs::create_directories(jobs / "job-2" / "checkpoints");
  std::ofstream(jobs / "job-2" / "checkpoints" / "state") << "of another job";
  fs::create_directories(named);
  std::ofstream(named / "mine") << "the user's own";
  node.start(kW1, 1);
  (void)node.said<api::StepsMessage>();
  node.tell(kW1, api::CheckpointOrder{});
  (void)node.said<api::CheckpointedMessage>();
  // A worker still lives: its folder is left alone until it is gone.
  node.daemon.send(api::ForgetJob{.job = JobId(1), .after_s = 0});
  node.tell(kW1, api::GenerationMessage{.number = 2, .park = true});
  (void)node.said<api::ParkedMessage>();
  CHECK(node.daemon.exit_of(kW1).exit_code == 0);
  eventually("the states to be gone",
             [&] { return !fs::exists(jobs / "job-1") && !fs::exists(node.daemon.memory_folder() / "job-1"); });
  CHECK(fs::exists(jobs / "job-2" / "checkpoints" / "state"));
  CHECK(fs::exists(named / "mine"));
  // Those of a failed job stay for a while; told again, the newest word counts.
  node.daemon.send(api::ForgetJob{.job = JobId(2), .after_s = 86'400});
  node.daemon.die();
  node.daemon.rise();
  (void)node.daemon.welcome();
  CHECK(node.daemon.next<api::KeptJobsReport>().jobs == std::vector<JobId>{JobId(2)});
  CHECK(fs::exists(jobs / "job-2" / "checkpoints" / "state"));
  node.daemon.send(api::ForgetJob{.job = JobId(2), .after_s = 0});
  eventually("the old states to be gone", [&] { return !fs::exists(jobs / "job-2"); });
}

TEST_CASE("a state that could not be moved stays in memory, and the next agent moves it") {
  Node node;
  const fs::path disk = node.folder / "kept";
  std::ofstream(disk) << "a file where the folder should be";
  node.start(kW1, 1, {{"TIDEPOOL_CHECKPOINT_DIR", disk.string()}});
  (void)node.said<api::StepsMessage>();
  node.tell(kW1, api::GenerationMessage{.number = 2, .park = true});
  (void)node.said<api::ParkedMessage>();
  eventually("the agent to say so",
             [&] { return node.agent.output().find("stays in memory for now") != std::string::npos; });
  CHECK(states_in(node.daemon.memory_folder()) == 1);
  node.agent.signal(SIGKILL);
  CHECK(node.agent.wait() == -SIGKILL);
  fs::remove(disk);
  const test::AgentProcess next(node.folder.path(),
                                {"--daemon-socket", (node.folder / "d.sock").string(), "--state-dir",
                                 (node.folder / "s").string(), "--node", "here", "--slots", "2"});
  eventually("the state to lie on disk",
             [&] { return states_in(disk) == 1 && states_in(node.daemon.memory_folder()) == 0; });
}

TEST_CASE("a daemon of another cluster ends the workers of the one before, and their ids are free") {
  Node node;
  node.start(kW1, 1);
  const pid_t pid = node.pid_of(kW1);
  node.daemon.die();
  const std::string other = "another-" + node.folder.path().filename().string();
  node.daemon.become(other);
  node.daemon.rise();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  eventually("the old worker to end", [&] { return !test::process_lives(pid); });
  // A worker whose end was not acknowledged is in one more hello, which the agent takes back.
  auto hello = node.daemon.welcome();
  if (!hello.running.empty()) hello = node.daemon.welcome();
  CHECK(hello.running.empty());
  CHECK_THAT(node.agent.output(), Catch::Contains("belong to no daemon here"));
  node.start(kW1, 1);
  CHECK_THAT(node.daemon.log_with(kW1, "steps from"), Catch::Contains("steps from 0"));
}

}  // namespace tidepool
