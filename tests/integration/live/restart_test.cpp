// Programs that know nothing of Tidepool, as torchrun would start them, on real processes: resized, killed, suspended.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/daemon_process.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

constexpr int kEvery = 25;  // steps between two checkpoints

bool programs_are_built() {
  return built_program("schedulerd") && built_program("agentd");
}

std::string source_dir() {
  const char* folder = std::getenv("TIDEPOOL_SOURCE_DIR");
  return folder == nullptr ? "." : folder;
}

struct Cleanup {
  const TemporaryFolder& folder;
  ~Cleanup() { end_everything_of(folder); }
};

json job_of(const std::vector<std::string>& command, const TemporaryFolder& folder) {
  return {{"name", "stranger"},
          {"run", {{"command", command}, {"resize", "restart"}}},
          {"resources", {{"gpus_per_worker", 1}}},
          {"elastic", {{"min", 1}, {"max", 3}, {"preferred", 2}, {"cooldown", "0s"}, {"grace", "10s"}}},
          {"checkpoint", {{"dir", (folder / "checkpoints").string()}}}};
}

std::vector<std::string> ring(const TemporaryFolder& folder, int steps) {
  return {"python3", source_dir() + "/tests/support/torchrun_ring.py", (folder / "trace").string(),
          std::to_string(steps), std::to_string(kEvery)};
}

std::vector<json> trace_of(const TemporaryFolder& folder) {
  std::vector<json> lines;
  std::ifstream file(folder / "trace");
  for (std::string line; std::getline(file, line);) {
    if (auto parsed = json::parse(line, nullptr, false); !parsed.is_discarded()) lines.push_back(std::move(parsed));
  }
  return lines;
}

std::vector<json> starts_of(const TemporaryFolder& folder, const std::string& generation = "") {
  std::vector<json> starts;
  for (auto& line : trace_of(folder)) {
    const bool wanted = line["event"] == "start";
    if (wanted && (generation.empty() || line["env"]["TIDEPOOL_GENERATION"] == generation)) starts.push_back(line);
  }
  return starts;
}

int newest_step(const TemporaryFolder& folder) {
  int step = 0;
  for (const auto& line : trace_of(folder)) {
    if (line["event"] == "step") step = line["step"];
  }
  return step;
}

std::vector<pid_t> agents_of(const TemporaryFolder& folder) {
  std::vector<pid_t> found;
  for (const pid_t pid : processes_with(folder.path().string())) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    if (std::getline(file, name) && name == "agentd") found.push_back(pid);
  }
  return found;
}

// Each start goes on from at most `kEvery` steps before the farthest one, and steps are counted without a gap.
void check_steps(const TemporaryFolder& folder) {
  int farthest = 0;
  int last = 0;
  for (const auto& line : trace_of(folder)) {
    INFO(line.dump());
    if (line["event"] == "start") {
      CHECK(line["step"].get<int>() >= farthest - kEvery);
      last = line["step"];
    }
    if (line["event"] != "step") continue;
    CHECK(line["step"] == last + 1);
    last = line["step"];
    farthest = std::max(farthest, last);
  }
}

// A daemon with a job on it, from its submission on.
struct Run {
  const TemporaryFolder& folder;
  DaemonProcess& daemon;
  HttpClient client = daemon.client();

  json job() { return client.get("/v1/jobs/job-1").json(); }
  bool runs_at(int size) {
    return eventually([&] {
      const json seen = job();
      return seen["state"] == "running" && seen["size"] == size;
    });
  }
  bool reaches(const std::string& state) {
    return eventually([&] { return job()["state"] == state; });
  }
  bool steps_on() {
    const int step = newest_step(folder);
    return eventually([&] { return newest_step(folder) > step + 10; });
  }
  std::vector<json> events(const std::string& type) {
    std::vector<json> found;
    const json page = client.get("/v1/events?limit=500").json();
    for (const auto& event : page.at("items")) {
      if (event.at("type") == type) found.push_back(event.at("data"));
    }
    return found;
  }
};

const DaemonProcess::Options kThreeSlots{.arguments = {"--local-slots", "3"}};

}  // namespace

TEST_CASE("a program for torchrun is resized, survives the death of a rank, and ends well") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  // This policy has no words but measurements, which such a program does not give.
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "3", "--policy", "autoscaling_engine"}});
  INFO(daemon.errors());
  REQUIRE(daemon.wait_ready());
  Run run{folder, daemon};
  const auto reply = run.client.post("/v1/jobs", job_of(ring(folder, 600), folder));
  INFO(reply.body);
  REQUIRE(reply.status == 201);
  REQUIRE(run.runs_at(2));
  REQUIRE(run.steps_on());
  CHECK(run.job()["reason"]["code"] == "NoMeasurements");

  CHECK(run.client.post("/v1/jobs/job-1/resize", {{"size", 3}}).status < 300);
  REQUIRE(run.runs_at(3));
  REQUIRE(run.steps_on());
  const auto second = starts_of(folder, "2");
  REQUIRE(second.size() == 3);
  for (const auto& start : second) {
    CHECK(start["env"]["LOCAL_WORLD_SIZE"] == "3");
    CHECK(start["env"]["LOCAL_RANK"] == std::to_string(start["rank"].get<int>()));
    CHECK(start["env"]["TORCHELASTIC_RUN_ID"] == "job-1");
    CHECK(start["linked"] == false);
    CHECK(start["step"] > 0);
  }

  ::kill(second.back()["pid"].get<pid_t>(), SIGKILL);
  REQUIRE(eventually([&] { return starts_of(folder, "3").size() == 3; }));
  REQUIRE(run.runs_at(3));
  CHECK(run.events("worker.lost").size() == 1);

  REQUIRE(run.reaches("succeeded"));
  CHECK(newest_step(folder) == 600);
  check_steps(folder);
  const auto switches = run.events("generation.switched");
  REQUIRE(switches.size() == 3);
  CHECK(switches[0]["kind"] == "start");
  CHECK(switches[1]["kind"] == "restart");
  CHECK(switches[1]["stall_ms"] > 0);
  CHECK(switches[2]["kind"] == "failure");
  CHECK(switches[2]["stall_ms"] > 1'000);  // the pause before the next try
}

TEST_CASE("programs go on while daemon and agent are dead, and keep their place across a suspension") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  {
    DaemonProcess daemon(folder, kThreeSlots);
    REQUIRE(daemon.wait_ready());
    Run run{folder, daemon};
    REQUIRE(run.client.post("/v1/jobs", job_of(ring(folder, 100'000), folder)).status == 201);
    REQUIRE(run.runs_at(2));
    REQUIRE(run.steps_on());
    daemon.signal(SIGKILL);
    CHECK(daemon.wait_exit() == -SIGKILL);
    for (const pid_t agent : agents_of(folder)) ::kill(agent, SIGKILL);
    REQUIRE(eventually([&] { return agents_of(folder).empty(); }));
    REQUIRE(run.steps_on());
  }
  DaemonProcess daemon(folder, kThreeSlots);
  INFO(daemon.errors());
  REQUIRE(daemon.wait_ready());
  Run run{folder, daemon};
  REQUIRE(run.runs_at(2));
  REQUIRE(run.steps_on());
  CHECK(starts_of(folder).size() == 2);  // no worker was started again

  CHECK(run.client.post("/v1/jobs/job-1/suspend", json::object()).status < 300);
  REQUIRE(run.reaches("suspended"));
  const int kept = newest_step(folder);
  CHECK(run.client.post("/v1/jobs/job-1/resume", json::object()).status < 300);
  REQUIRE(run.runs_at(2));
  REQUIRE(run.steps_on());
  const auto starts = starts_of(folder);
  REQUIRE(starts.size() == 4);
  CHECK(starts.back()["step"] == kept);
  CHECK(run.events("worker.lost").empty());

  CHECK(run.client.send("DELETE", "/v1/jobs/job-1", "", {}).status < 300);
  REQUIRE(run.reaches("cancelled"));
  check_steps(folder);
}

TEST_CASE("exit code 2 ends the job at once, any other is tried again as often as allowed") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, kThreeSlots);
  REQUIRE(daemon.wait_ready());
  Run run{folder, daemon};
  auto command = ring(folder, 10);
  const bool wrong_settings = GENERATE(true, false);
  command.push_back(wrong_settings ? "2" : "7");
  auto job = job_of(command, folder);
  job["limits"] = {{"max_restarts", 1}};
  REQUIRE(run.client.post("/v1/jobs", job).status == 201);
  REQUIRE(run.reaches("failed"));
  CHECK(run.job()["error"].get<std::string>().find(wrong_settings ? "code 2" : "code 7") != std::string::npos);
  CHECK(starts_of(folder).size() <= (wrong_settings ? 2U : 4U));
  if (!wrong_settings) CHECK_FALSE(starts_of(folder, "2").empty());
}

TEST_CASE("an unmodified DistributedDataParallel script saves on SIGTERM and goes on at its new size") {
  if (!programs_are_built()) return;
  const char* python = std::getenv("TIDEPOOL_TORCH_PYTHON");
  const std::string with_torch = python == nullptr ? "/usr/bin/python3" : python;
  if (std::system((with_torch + " -c 'import torch.distributed' 2>/dev/null").c_str()) != 0) {
    std::printf("%s has no torch; the script is not run\n", with_torch.c_str());
    return;
  }
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, kThreeSlots);
  REQUIRE(daemon.wait_ready());
  Run run{folder, daemon};
  const std::string script = source_dir() + "/examples/torchrun/ddp.py";
  auto job = job_of({with_torch, script, "--steps", "1200", "--save-every", "50"}, folder);
  job["elastic"]["grace"] = "20s";
  REQUIRE(run.client.post("/v1/jobs", job).status == 201);
  const auto log = [&] { return run.client.get("/v1/jobs/job-1/logs").body; };
  REQUIRE(eventually([&] { return log().find("size 2") != std::string::npos; }, 120));
  CHECK(run.client.post("/v1/jobs/job-1/resize", {{"size", 3}}).status < 300);
  REQUIRE(eventually([&] { return log().find("rank 0 of 3 continues from step") != std::string::npos; }, 120));
  CHECK(log().find("rank 0 of 3 continues from step 0\n") == std::string::npos);
  REQUIRE(eventually([&] { return run.job()["state"] == "succeeded"; }, 180));
  CHECK(run.events("worker.lost").empty());
}

}  // namespace tidepool::test
