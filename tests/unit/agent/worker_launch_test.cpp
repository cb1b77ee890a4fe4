#include "workers/agent/worker_launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/child_answer.hpp"
#include "workers/agent/system/wait_for_end.hpp"

namespace tidepool::agent {
namespace {

const NodeSlots kCpu{.count = 4, .type = "cpu"};
const NodeSlots kGpus{.count = 2, .type = "h", .gpus = {{"GPU-a", "h"}, {"GPU-b", "h"}}};

LaunchPlace place_in(const std::filesystem::path& programs) {
  return {.program_folder = programs,
          .agent_socket = "/s/w.sock",
          .job_file = "/s/work/w-7/job.json",
          .agent_environment = {{"HOME", "/home/agent"}, {"PATH", "/bin"}, {"AGENT_SECRET", "x"}}};
}

api::StartWorker order() {
  return {.worker = WorkerId(7), .job = JobId(2), .slots = {0}, .program = "/bin/sh", .argv = {"-c", "true"}};
}

bool has(const ChildSpec& spec, const std::string& entry) {
  return std::count(spec.environment.begin(), spec.environment.end(), entry) == 1;
}

}  // namespace

TEST_CASE("a worker gets a small environment, the job's own and what the protocol promises") {
  auto start = order();
  start.env = {{"OMP_NUM_THREADS", "2"}, {"MODE", "fast"}, {"TIDEPOOL_WORKER", "w-1"}};
  const auto spec = plan_launch(start, place_in("/p"), kCpu);
  REQUIRE(spec.ok());
  CHECK(spec->argv == std::vector<std::string>{"/bin/sh", "-c", "true"});
  CHECK(has(*spec, "HOME=/home/agent"));
  CHECK(has(*spec, "PATH=/bin"));
  CHECK(has(*spec, "OMP_NUM_THREADS=2"));
  CHECK(has(*spec, "MODE=fast"));
  CHECK(has(*spec, "TIDEPOOL_WORKER=w-7"));  // a job cannot pass for another worker
  CHECK(has(*spec, "TIDEPOOL_JOB=job-2"));
  CHECK(has(*spec, "TIDEPOOL_JOB_FILE=/s/work/w-7/job.json"));
  CHECK(has(*spec, "TIDEPOOL_AGENT_SOCKET=/s/w.sock"));
  CHECK(has(*spec, "CUDA_VISIBLE_DEVICES="));
  CHECK_FALSE(has(*spec, "AGENT_SECRET=x"));
}

TEST_CASE("a confined worker has a home and a user of its own") {
  auto place = place_in("/p");
  place.confined = true;
  auto start = order();
  const auto spec = plan_launch(start, place, kCpu);
  REQUIRE(spec.ok());
  for (const char* entry : {"HOME=/tmp", "USER=tidepool-job", "LOGNAME=tidepool-job"}) CHECK(has(*spec, entry));
  start.env = {{"USER", "someone"}};
  CHECK(has(plan_launch(start, place, kCpu).value(), "USER=someone"));
}

TEST_CASE("a program that starts anew for each generation is told where to write its length, and no other is") {
  auto place = place_in("/p");
  const auto names_it = [](const ChildSpec& spec) {
    return std::any_of(spec.environment.begin(), spec.environment.end(),
                       [](const std::string& entry) { return entry.starts_with("TIDEPOOL_LENGTH_FILE="); });
  };
  CHECK_FALSE(names_it(plan_launch(order(), place, kCpu).value()));
  place.length_file = "/s/work/w-7/length.jsonl";
  auto start = order();
  start.env = {{"TIDEPOOL_LENGTH_FILE", "/etc/passwd"}};
  CHECK(has(plan_launch(start, place, kCpu).value(), "TIDEPOOL_LENGTH_FILE=/s/work/w-7/length.jsonl"));
}

TEST_CASE(
    "a program that starts anew for each generation finds the folder of its states, which its own process makes") {
  auto place = place_in("/p");
  place.checkpoint_folder = "/s/jobs/job-2/checkpoints";
  CHECK(plan_launch(order(), place, kCpu)->make_folder.empty());  // one that goes on makes it itself
  auto start = order();
  start.restart_grace_ms = 1'000;
  CHECK(plan_launch(start, place, kCpu)->make_folder == "/s/jobs/job-2/checkpoints");
  start.env = {{"TIDEPOOL_CHECKPOINT_DIR", "/nfs/states"}};
  CHECK(plan_launch(start, place, kCpu)->make_folder == "/nfs/states");
  place.confined = true;  // its plan has it
  CHECK(plan_launch(start, place, kCpu)->make_folder.empty());
}

TEST_CASE("a worker is told where to meet the others, and a job cannot name another place") {
  auto start = order();
  start.env = {{"TIDEPOOL_DATA_ADDRESS", "10.9.9.9"}};
  CHECK_FALSE(has(plan_launch(start, place_in("/p"), kCpu).value(), "TIDEPOOL_DATA_ADDRESS=10.9.9.9"));
  auto place = place_in("/p");
  place.data = {.host = "fd00::5", .interface = "eth1"};
  const auto spec = plan_launch(start, place, kCpu).value();
  CHECK(has(spec, "TIDEPOOL_DATA_ADDRESS=fd00::5"));
  CHECK(has(spec, "NCCL_SOCKET_IFNAME==eth1"));
  CHECK(has(spec, "NCCL_SOCKET_FAMILY=AF_INET6"));
  CHECK(has(spec, "GLOO_SOCKET_IFNAME=eth1"));
  place.data = {.host = "127.0.0.1", .interface = "lo"};  // NCCL finds loopback by itself, with all else that it finds
  const auto alone = plan_launch(start, place, kCpu).value();
  CHECK(has(alone, "TIDEPOOL_DATA_ADDRESS=127.0.0.1"));
  CHECK_FALSE(has(alone, "NCCL_SOCKET_IFNAME==lo"));
}

TEST_CASE("a worker is told to compute in as many threads as its job asks CPUs for") {
  auto start = order();
  CHECK(has(plan_launch(start, place_in("/p"), kCpu).value(), "OMP_NUM_THREADS=1"));
  start.cpus = 3;
  CHECK(has(plan_launch(start, place_in("/p"), kCpu).value(), "OMP_NUM_THREADS=3"));
  start.env = {{"OMP_NUM_THREADS", "2"}};
  CHECK(has(plan_launch(start, place_in("/p"), kCpu).value(), "OMP_NUM_THREADS=2"));
}

TEST_CASE("what a Python program prints is in its log at once, unless its job wants it otherwise") {
  auto start = order();
  CHECK(has(plan_launch(start, place_in("/p"), kCpu).value(), "PYTHONUNBUFFERED=1"));
  start.env = {{"PYTHONUNBUFFERED", ""}};
  CHECK(has(plan_launch(start, place_in("/p"), kCpu).value(), "PYTHONUNBUFFERED="));
}

TEST_CASE("a worker on GPU slots sees exactly its GPUs") {
  auto start = order();
  start.gpus = true;
  start.slots = {1, 0};
  CHECK(has(plan_launch(start, place_in("/p"), kGpus).value(), "CUDA_VISIBLE_DEVICES=GPU-b,GPU-a"));
  start.slots = {2};
  CHECK_THAT(plan_launch(start, place_in("/p"), kGpus).error().message, Catch::Contains("no GPU slot 2"));
}

TEST_CASE("a worker on CPU slots that are called otherwise starts and sees no GPU") {
  auto start = order();
  start.gpus = true;
  const NodeSlots plain{.count = 1, .type = "plain"};
  CHECK(has(plan_launch(start, place_in("/p"), plain).value(), "CUDA_VISIBLE_DEVICES="));
}

TEST_CASE(
    "a program without a slash may lie beside agentd, or else in a folder of PATH, which the agent does not touch") {
  auto place = place_in("/p");
  place.agent_environment["PATH"] = "/hung/bin::relative:/bin";
  auto start = order();
  CHECK(plan_launch(start, place, kCpu)->places.empty());  // a path leads to itself
  start.program = "sh";
  const auto spec = plan_launch(start, place, kCpu);
  REQUIRE(spec.ok());
  CHECK(spec->program == "sh");
  CHECK(spec->places == std::vector<std::string>{"/p/sh", "/hung/bin/sh", "/bin/sh"});
}

TEST_CASE("the first place at which a program can be run is the program") {
  const test::TemporaryFolder folder;
  const auto outcome = [&](const std::vector<std::string>& places) {
    const auto answer = ask_child({.program = "say", .argv = {"say"}, .places = places},
                                  {.within = std::chrono::seconds(10) * test::patience(), .text_max = 1'000});
    return answer.ok() ? answer->text : answer.error().message;
  };
  for (const char* name : {"one", "two", "plain"}) {
    std::ofstream(folder / name) << "#!/bin/sh\necho " << name << "\n";
    const bool runs = std::string(name) != "plain";
    std::filesystem::permissions(folder / name, std::filesystem::perms(runs ? 0700 : 0600));
  }
  const auto at = [&](const char* name) { return (folder / name).string(); };
  CHECK(outcome({at("none"), at("one"), at("two")}) == "one\n");
  CHECK(outcome({at("one/below"), at("plain"), at("two")}) == "two\n");
  // Told at once, or where the machine is slow, when the process has ended.
  const auto failure = [&](const std::vector<std::string>& places) {
    const auto child = start_child({.program = "say", .argv = {"say"}, .places = places, .output = STDOUT_FILENO},
                                   [](pid_t) { return ok_status(); });
    if (!child.ok()) return child.error().message;
    (void)wait_for_end(child->pid);
    return child->open_start ? child->open_start->failure().value_or(Error{}).message : "none";
  };
  CHECK(failure({at("none")}) == "could not start say: No such file or directory beside agentd or on PATH");
  CHECK(failure({at("plain"), at("none")}) == "could not start say: Permission denied beside agentd or on PATH");
}

TEST_CASE("what the kernel would silently cut is refused") {
  auto start = order();
  start.argv = {std::string("a\0b", 3)};
  CHECK_THAT(plan_launch(start, place_in("/p"), kCpu).error().message, Catch::Contains("NUL byte"));
  start = order();
  start.env = {{"A=B", "1"}};
  CHECK_THAT(plan_launch(start, place_in("/p"), kCpu).error().message, Catch::Contains("cannot be the name"));
}

}  // namespace tidepool::agent
