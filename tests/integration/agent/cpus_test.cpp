// resources.cpus: what a real worker process has of its node's CPUs.
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/integration/agent/daemon_stand_in.hpp"
#include "workers/agent/system/cpu_pool.hpp"

namespace tidepool {
namespace {

using test::AgentProcess;
using test::DaemonStandIn;

// "0-2,5" -> 0, 1, 2, 5
std::vector<int> cpu_list(const std::string& text) {
  std::vector<int> cpus;
  std::stringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const int last = std::stoi(dash == std::string::npos ? range : range.substr(dash + 1));
    for (int cpu = std::stoi(range); cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

// On a node of many slots, so that CPUs and not slots run out.
struct Node {
  AgentProcess agent() const {
    return AgentProcess(folder.path(), {"--daemon-socket", (folder / "d.sock").string(), "--state-dir",
                                        (folder / "s").string(), "--node", "here", "--slots", "8"});
  }
  // A worker that waits until it is stopped.
  void start(WorkerId worker, std::optional<int> cpus) {
    daemon.send(api::StartWorker{.worker = worker,
                                 .job = JobId(1),
                                 .slots = {0},
                                 .program = "/bin/sh",
                                 .argv = {"-c", "echo pid $$ threads $OMP_NUM_THREADS end; exec sleep 600"},
                                 .env = {},
                                 .workdir = folder.path().string(),
                                 .cpus = cpus});
    said[worker] = daemon.log_with(worker, "end");
  }
  void stop(WorkerId worker) {
    daemon.send(api::StopWorker{.worker = worker, .grace_ms = 0});
    daemon.acknowledge(daemon.exit_of(worker));
  }
  [[nodiscard]] std::vector<int> cpus_of(WorkerId worker) const {
    const std::string pid = std::to_string(std::stol(said.at(worker).substr(4)));
    std::ifstream status("/proc/" + pid + "/status");
    constexpr std::string_view kField = "Cpus_allowed_list:";
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(kField)) return cpu_list(line.substr(kField.size()));
    }
    FAIL("/proc does not show " << worker.text());
    return {};
  }
  [[nodiscard]] bool computes_in(WorkerId worker, int threads) const {
    return said.at(worker).find("threads " + std::to_string(threads) + " end") != std::string::npos;
  }

  test::TemporaryFolder folder;
  DaemonStandIn daemon{folder / "d.sock"};
  std::map<WorkerId, std::string> said;
};

const WorkerId kW1(1), kW2(2), kW3(3);

TEST_CASE("a worker that asks for CPUs runs on these alone, and the next one on others") {
  const std::vector<int> all = agent::usable_cpus();
  if (all.size() < 2) {
    WARN("SKIPPED: this needs two CPUs");
    return;
  }
  Node node;
  const auto agent = node.agent();
  (void)node.daemon.welcome();
  node.start(kW1, 1);
  CHECK(node.cpus_of(kW1) == std::vector<int>{all[0]});
  node.start(kW2, 1);
  CHECK(node.cpus_of(kW2) == std::vector<int>{all[1]});
  node.stop(kW1);
  node.start(kW3, 1);
  CHECK(node.cpus_of(kW3) == std::vector<int>{all[0]});
}

TEST_CASE("a worker that asks for more CPUs than are free shares all of them, in as many threads") {
  const std::vector<int> all = agent::usable_cpus();
  const int more = static_cast<int>(all.size()) + 1;
  Node node;
  const auto agent = node.agent();
  (void)node.daemon.welcome();
  node.start(kW1, more);
  CHECK(node.cpus_of(kW1) == all);
  CHECK(node.computes_in(kW1, more));
  node.start(kW2, std::nullopt);
  CHECK(node.cpus_of(kW2) == all);
  CHECK(node.computes_in(kW2, 1));
}

TEST_CASE("the CPUs of an adopted worker stay its own until it ends") {
  const std::vector<int> all = agent::usable_cpus();
  if (all.size() < 2) {
    WARN("SKIPPED: this needs two CPUs");
    return;
  }
  Node node;
  {
    auto first = node.agent();
    (void)node.daemon.welcome();
    node.start(kW1, 1);
    first.signal(SIGKILL);
    CHECK(first.wait() == -SIGKILL);
  }
  const auto second = node.agent();
  CHECK(node.daemon.welcome().running == std::vector<WorkerId>{kW1});
  node.start(kW2, 1);
  CHECK(node.cpus_of(kW1) == std::vector<int>{all[0]});
  CHECK(node.cpus_of(kW2) == std::vector<int>{all[1]});
  node.stop(kW1);
  node.start(kW3, 1);
  CHECK(node.cpus_of(kW3) == std::vector<int>{all[0]});
}

}  // namespace
}  // namespace tidepool
