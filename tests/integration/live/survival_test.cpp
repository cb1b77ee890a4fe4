// A real job on real processes, while daemon and workers are killed and slowed.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/daemon_process.hpp"

namespace tidepool::test {
namespace {

bool programs_are_built() {
  return built_program("schedulerd") && built_program("agentd") && built_program("tidepool-trainer");
}

// A text of its own, so that an epoch is short and its audit comes often.
nlohmann::json job_on(const TemporaryFolder& folder, int steps) {
  std::ofstream text(folder / "text.txt");
  for (int i = 0; i < 400; ++i) text << "the tide comes in and the tide goes out\n";
  return {{"name", "survivor"},
          {"run",
           {{"trainer", "charlm"},
            {"args", {{"data", {(folder / "text.txt").string()}}, {"steps", steps}, {"hidden", 32}}}}},
          {"resources", {{"gpus_per_worker", 1}}},
          {"elastic", {{"min", 1}, {"max", 2}, {"preferred", 2}, {"sizes", {1, 2}}}},
          {"batch", {{"global", 128}, {"per_worker_max", 128}}},
          {"scaling", {{"policy", "fixed"}}}};
}

// Ends agent and workers however the test ends.
struct Cleanup {
  const TemporaryFolder& folder;
  ~Cleanup() { end_everything_of(folder); }
};

nlohmann::json job_of(HttpClient& client) {
  const auto reply = client.get("/v1/jobs/job-1");
  return reply.status == 200 ? reply.json() : nlohmann::json{{"state", ""}, {"progress", {{"step", 0}}}};
}

bool reaches_step(HttpClient& client, int step) {
  return eventually([&] { return job_of(client)["progress"]["step"].get<int>() >= step; }, 120);
}

bool ends_well(HttpClient& client) {
  return eventually([&] { return job_of(client)["state"] == "succeeded"; }, 240);
}

std::vector<nlohmann::json> events_of(HttpClient& client, const std::string& type) {
  std::vector<nlohmann::json> found;
  std::string cursor;
  while (true) {
    const auto page = client.get("/v1/events?limit=500" + (cursor.empty() ? "" : "&cursor=" + cursor)).json();
    for (const auto& event : page.at("items")) {
      if (event.at("type") == type) found.push_back(event);
    }
    if (page.at("next_cursor").is_null()) return found;
    cursor = page.at("next_cursor");
  }
}

// Each epoch was audited exactly once, and every audit was right.
void check_audits(HttpClient& client) {
  const auto audits = events_of(client, "data.epoch_audited");
  CHECK(audits.size() > 1);
  std::set<std::int64_t> epochs;
  for (const auto& audit : audits) {
    INFO(audit.dump());
    CHECK(audit["data"]["used"] == audit["data"]["expected"]);
    CHECK(audit["data"]["checksum_ok"] == true);
    epochs.insert(audit["data"]["epoch"].get<std::int64_t>());
  }
  const std::int64_t missing = *epochs.rbegin() - *epochs.begin() + 1 - static_cast<std::int64_t>(epochs.size());
  CHECK(missing == 0);
  CHECK(audits.size() == epochs.size());
}

std::vector<pid_t> workers_of(const TemporaryFolder& folder) {
  std::vector<pid_t> found;
  for (const pid_t pid : processes_with(folder.path().string())) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.find("tidepool-trainer") != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::uintmax_t log_bytes(const TemporaryFolder& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "state/agent/logs")) {
    bytes += entry.file_size();
  }
  return bytes;
}

double seconds_of(const std::string& rfc3339) {
  const std::string clock = rfc3339.substr(11, 12);
  return std::stod(clock.substr(0, 2)) * 3600 + std::stod(clock.substr(3, 2)) * 60 + std::stod(clock.substr(6));
}

}  // namespace

TEST_CASE("a daemon killed in the middle of a job finds it stepping, and no sample and no decision is doubled") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  const DaemonProcess::Options options{.arguments = {"--local-slots", "2"}};
  std::vector<pid_t> workers;
  std::uintmax_t logged = 0;
  {
    DaemonProcess daemon(folder, options);
    INFO(daemon.errors());
    REQUIRE(daemon.wait_ready());
    HttpClient client = daemon.client();
    const auto reply = client.post("/v1/jobs", job_on(folder, 6'000));
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    REQUIRE(reaches_step(client, 200));
    workers = workers_of(folder);
    CHECK(workers.size() == 2);
    daemon.signal(SIGKILL);
    CHECK(daemon.wait_exit() == -SIGKILL);
    logged = log_bytes(folder);
  }
  // Nobody is there, and the training goes on.
  CHECK(eventually([&] { return log_bytes(folder) > logged; }, 60));
  for (const pid_t worker : workers) CHECK(process_lives(worker));

  DaemonProcess daemon(folder, options);
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(ends_well(client));
  const auto job = job_of(client);
  CHECK(job["progress"]["step"] == 6'000);
  CHECK(job["generation"] == 1);
  CHECK(events_of(client, "worker.started").size() == 2);
  CHECK(events_of(client, "worker.lost").empty());
  CHECK(events_of(client, "generation.switched").size() == 1);
  check_audits(client);
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_exit() == 0);
}

TEST_CASE("a daemon that is told to stop leaves the workers stepping and adopts them at the next start") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  const DaemonProcess::Options options{.arguments = {"--local-slots", "2"}};
  std::vector<pid_t> workers;
  {
    DaemonProcess daemon(folder, options);
    REQUIRE(daemon.wait_ready());
    HttpClient client = daemon.client();
    REQUIRE(client.post("/v1/jobs", job_on(folder, 4'000)).status == 201);
    REQUIRE(reaches_step(client, 100));
    workers = workers_of(folder);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait_exit() == 0);
  }
  for (const pid_t worker : workers) CHECK(process_lives(worker));
  DaemonProcess daemon(folder, options);
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(ends_well(client));
  CHECK(events_of(client, "worker.lost").empty());
  check_audits(client);
}

TEST_CASE("a killed worker costs the step in flight: the survivors go on within a second of its death") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(client.post("/v1/jobs", job_on(folder, 6'000)).status == 201);
  REQUIRE(reaches_step(client, 200));
  const auto workers = workers_of(folder);
  REQUIRE(workers.size() == 2);
  REQUIRE(::kill(workers.back(), SIGKILL) == 0);
  REQUIRE(ends_well(client));
  CHECK(job_of(client)["progress"]["step"] == 6'000);
  const auto lost = events_of(client, "worker.lost");
  REQUIRE(lost.size() == 1);
  CHECK(lost[0]["data"]["signal"] == SIGKILL);
  const auto switched = events_of(client, "generation.switched");
  REQUIRE(switched.size() >= 2);
  CHECK(switched[1]["data"]["steps_redone"].get<int>() <= 1);
  const double took = seconds_of(switched[1]["at"]) - seconds_of(lost[0]["at"]);
  std::printf("from the report of death to stepping again: %.3f s\n", took);
  CHECK(took < 1.0);
  check_audits(client);
}

TEST_CASE("a worker slowed to three times its compute is named and replaced, and the throughput comes back") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "3"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  nlohmann::json job = job_on(folder, 1'000'000);
  job["elastic"] = {{"min", 2}, {"max", 2}};
  job["run"]["args"]["hidden"] = 128;
  job["run"]["args"]["slow_file"] = (folder / "slow").string();
  REQUIRE(client.post("/v1/jobs", job).status == 201);
  REQUIRE(reaches_step(client, 150));
  const double before = job_of(client)["progress"]["samples_per_second"];
  {
    std::ofstream slow(folder / "slow");
    slow << "w-2 3.0\n";
  }
  REQUIRE(eventually([&] { return !events_of(client, "worker.replaced").empty(); }, 120));
  const auto named = events_of(client, "worker.straggling");
  REQUIRE(named.size() == 1);
  CHECK(named[0]["data"]["worker"] == "w-2");
  CHECK(named[0]["data"]["score"] < 0.8);
  const auto replaced = events_of(client, "worker.replaced");
  CHECK(replaced[0]["data"] == nlohmann::json({{"worker", "w-2"}, {"by", "w-3"}}));
  const auto switched = events_of(client, "generation.switched");
  CHECK(switched.back()["data"]["from_size"] == 2);
  CHECK(switched.back()["data"]["to_size"] == 2);
  CHECK(client.get("/metrics").body.find("stragglers_replaced_total 1") != std::string::npos);

  const int step = job_of(client)["progress"]["step"];
  REQUIRE(reaches_step(client, step + 150));
  const double after = job_of(client)["progress"]["samples_per_second"];
  std::printf("samples/s before %.0f, after the replacement %.0f\n", before, after);
  CHECK(after > 0.6 * before);
}

}  // namespace tidepool::test
