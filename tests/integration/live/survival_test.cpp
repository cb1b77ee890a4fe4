// A real job on real processes, while daemon and workers are killed and slowed.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "tests/support/live_job.hpp"

namespace tidepool::test {
namespace {

double seconds_of(const std::string& rfc3339) {
  const std::string clock = rfc3339.substr(11, 12);
  return std::stod(clock.substr(0, 2)) * 3600 + std::stod(clock.substr(3, 2)) * 60 + std::stod(clock.substr(6));
}

// So that a step is several milliseconds of computing: of shorter ones, most is waiting for the other worker's turn.
#ifdef __OPTIMIZE__
constexpr int kHidden = 768;
#else
constexpr int kHidden = 128;
#endif

// Two workers for as long as it takes, which compute as slowly as slow_down() says.
nlohmann::json slowable_job(const TemporaryFolder& folder) {
  nlohmann::json job = job_on(folder, 1'000'000);
  job["elastic"] = {{"min", 2}, {"max", 2}};
  job["run"]["args"]["hidden"] = kHidden;
  job["run"]["args"]["slow_file"] = (folder / "slow").string();
  return job;
}

void slow_down(const TemporaryFolder& folder, const std::string& worker_and_factor) {
  std::ofstream(folder / "slow") << worker_and_factor << "\n";
}

// The reports of this worker's slowness. On a busy machine another one may be named for a while, too.
std::vector<nlohmann::json> straggling_of(HttpClient& client, const std::string& worker) {
  auto named = events_of(client, "worker.straggling");
  std::erase_if(named, [&](const auto& event) { return event["data"]["worker"] != worker; });
  return named;
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
  // No daemon runs, and the training goes on.
  CHECK(eventually([&] { return log_bytes(folder) > logged; }, 60));
  for (const pid_t worker : workers) CHECK(process_lives(worker));

  DaemonProcess daemon(folder, options);
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(ends_well(client));
  const auto job = job_of(client);
  CHECK(job["progress"]["step"] == 6'000);
  CHECK(job["generation"] == 1);
  // What was reported into the void is counted all the same.
  CHECK(job["progress"]["samples"] == check_audits(client));
  CHECK(events_of(client, "worker.started").size() == 2);
  CHECK(events_of(client, "worker.lost").empty());
  CHECK(events_of(client, "generation.switched").size() == 1);
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

TEST_CASE("a killed worker costs the step in flight: the survivors go on without waiting for a timeout") {
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
  CHECK(took < 10.0);  // a worker waits 60 s and more where it is not told
  check_audits(client);
}

TEST_CASE("a worker slowed to three times its compute is named, and a joining worker trains in its place") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "3"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(client.post("/v1/jobs", slowable_job(folder)).status == 201);
  REQUIRE(reaches_step(client, 150));
  const double before = job_of(client)["progress"]["samples_per_second"];
  slow_down(folder, "w-2 3.0");
  REQUIRE(eventually([&] { return !events_of(client, "worker.replaced").empty(); }, 120));
  const auto named = straggling_of(client, "w-2");
  REQUIRE(named.size() == 1);
  CHECK(named[0]["data"]["score"] < 0.8);
  const auto replaced = events_of(client, "worker.replaced");
  CHECK(replaced[0]["data"] == nlohmann::json({{"worker", "w-2"}, {"by", "w-3"}, {"straggler", true}}));
  const auto switched = events_of(client, "generation.switched");
  CHECK(switched.back()["data"]["from_size"] == 2);
  CHECK(switched.back()["data"]["to_size"] == 2);
  CHECK(client.get("/metrics").body.find("stragglers_replaced_total 1") != std::string::npos);

  const int step = job_of(client)["progress"]["step"];
  REQUIRE(reaches_step(client, step + 150));
  const double after = job_of(client)["progress"]["samples_per_second"];
  std::printf("samples/s before %.0f, after the replacement %.0f\n", before, after);
  std::vector<std::string> members;
  const auto listed = client.get("/v1/jobs/job-1/workers").json();
  for (const auto& worker : listed["items"]) {
    if (!worker["rank"].is_null()) members.push_back(worker["id"]);
  }
  CHECK(members.size() == 2);
  CHECK(std::find(members.begin(), members.end(), "w-2") == members.end());
}

TEST_CASE("a worker slowed to one and a half times gets a smaller share of each step, and no sample is lost") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});  // no slot for a replacement
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(client.post("/v1/jobs", slowable_job(folder)).status == 201);
  REQUIRE(reaches_step(client, 300));
  const double healthy = job_of(client)["progress"]["samples_per_second"];
  slow_down(folder, "w-2 1.5");
  REQUIRE(eventually([&] { return !events_of(client, "worker.straggling").empty(); }, 120));
  const double slowed = job_of(client)["progress"]["samples_per_second"];
  REQUIRE(eventually([&] { return !events_of(client, "job.rebalanced").empty(); }, 120));
  const auto changed = events_of(client, "job.rebalanced");
  const auto& shares = changed[0]["data"]["shares"];
  REQUIRE(shares.size() == 2);
  CHECK(shares[0] == nlohmann::json({{"worker", "w-1"}, {"share", 1}}));
  CHECK(shares[1]["share"] < 0.95);
  const auto named = straggling_of(client, "w-2");
  REQUIRE(!named.empty());
  CHECK(named[0]["data"]["next_action"] == "rebalance");
  CHECK(events_of(client, "generation.switched").size() == 1);  // nothing was built anew
  const auto workers = client.get("/v1/jobs/job-1/workers").json();
  CHECK(workers["items"][1]["share"] < 1);
  const std::string metrics = client.get("/metrics").body;
  CHECK(metrics.find("sched_rebalances_total") != std::string::npos);
  CHECK(metrics.find("sched_stage_seconds_bucket{stage=\"size\"") != std::string::npos);

  const int step = job_of(client)["progress"]["step"];
  REQUIRE(reaches_step(client, step + 300));
  const double eased = job_of(client)["progress"]["samples_per_second"];
  std::printf("samples/s healthy %.0f, with a slow worker %.0f, with its smaller share %.0f\n", healthy, slowed, eased);
  CHECK(client.send("DELETE", "/v1/jobs/job-1", "", {}).status < 300);
  REQUIRE(reaches_state(client, "cancelled"));
  check_audits(client);
}

}  // namespace tidepool::test
