// Real jobs that give up their slots and take them again: suspended, below their minimum, with a worker that hangs.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/support/live_job.hpp"

namespace tidepool::test {
namespace {

int free_slots(HttpClient& client) {
  int slots = 0;
  const auto nodes = client.get("/v1/nodes").json();
  for (const auto& node : nodes.at("items")) {
    for (const auto& slot : node.at("slots")) slots += slot.at("worker").is_null() ? 1 : 0;
  }
  return slots;
}

// Every sample of every epoch was used once, and the daemon's own count is that of the workers.
void check_samples(HttpClient& client) {
  CHECK(job_of(client)["progress"]["samples"] == check_audits(client));
}

}  // namespace

TEST_CASE("a suspended job keeps its step and its place in the data, and goes on from there") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(client.post("/v1/jobs", job_on(folder, 4'000)).status == 201);
  REQUIRE(reaches_step(client, 300));

  REQUIRE(client.post("/v1/jobs/job-1/suspend", nlohmann::json::object()).status == 200);
  REQUIRE(reaches_state(client, "suspended"));
  CHECK(free_slots(client) == 2);
  CHECK(workers_of(folder).empty());
  const auto parked = events_of(client, "job.parked");
  REQUIRE(parked.size() == 1);
  const auto step = parked[0]["data"]["step"].get<int>();
  CHECK(step >= 300);
  CHECK(job_of(client)["progress"]["step"] == step);
  CHECK(events_of(client, "worker.lost").empty());

  REQUIRE(client.post("/v1/jobs/job-1/resume", nlohmann::json::object()).status == 200);
  REQUIRE(ends_well(client));
  CHECK(job_of(client)["progress"]["step"] == 4'000);
  const auto restored = events_of(client, "job.restored");
  REQUIRE(restored.size() == 1);
  CHECK(restored[0]["data"]["step"] == step);
  CHECK(restored[0]["data"]["steps_lost"] == 0);
  CHECK(events_of(client, "generation.switched").back()["data"]["kind"] == "resume");
  check_samples(client);
}

TEST_CASE("a job that falls below its minimum parks what is left of it and goes on from there") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  auto job = job_on(folder, 4'000);
  job["elastic"] = {{"min", 2}, {"max", 2}};
  REQUIRE(client.post("/v1/jobs", job).status == 201);
  REQUIRE(reaches_step(client, 300));
  const auto workers = workers_of(folder);
  REQUIRE(workers.size() == 2);
  REQUIRE(::kill(workers.front(), SIGKILL) == 0);

  REQUIRE(eventually([&] { return !events_of(client, "job.restored").empty(); }, 120));
  const auto parked = events_of(client, "job.parked");
  REQUIRE(parked.size() == 1);
  const auto restored = events_of(client, "job.restored");
  CHECK(restored[0]["data"]["step"] == parked[0]["data"]["step"]);
  CHECK(restored[0]["data"]["step"].get<int>() >= 299);
  CHECK(restored[0]["data"]["steps_lost"].get<int>() <= 1);
  REQUIRE(ends_well(client));
  CHECK(job_of(client)["progress"]["step"] == 4'000);
  CHECK(events_of(client, "worker.lost").size() == 1);
  check_samples(client);
}

TEST_CASE("a stopped worker is found by its agent, ended, and the job goes on without it") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  // The daemon's own environment reaches its agent and the workers; a job's may not hold such names.
  REQUIRE(::setenv("TIDEPOOL_STUCK_AFTER_MS", "2000", 1) == 0);
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(::unsetenv("TIDEPOOL_STUCK_AFTER_MS") == 0);
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  REQUIRE(client.post("/v1/jobs", job_on(folder, 4'000)).status == 201);
  REQUIRE(reaches_step(client, 200));
  const auto workers = workers_of(folder);
  REQUIRE(workers.size() == 2);
  REQUIRE(::kill(workers.back(), SIGSTOP) == 0);

  REQUIRE(ends_well(client));
  CHECK(events_of(client, "worker.stuck").size() == 1);
  const auto lost = events_of(client, "worker.lost");
  REQUIRE(lost.size() == 1);
  CHECK(lost[0]["data"]["signal"] == SIGKILL);
  CHECK(job_of(client)["progress"]["step"] == 4'000);
  check_samples(client);
}

TEST_CASE("a checkpoint is taken when it is asked for, and a change of the job holds from then on") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  auto job = job_on(folder, 1'000'000);
  job["elastic"] = {{"min", 1}, {"max", 1}};
  REQUIRE(client.post("/v1/jobs", job).status == 201);
  REQUIRE(reaches_step(client, 50));
  REQUIRE(client.post("/v1/jobs/job-1/checkpoint", nlohmann::json::object()).status == 200);
  REQUIRE(eventually([&] { return !events_of(client, "job.checkpointed").empty(); }));
  const auto taken = events_of(client, "job.checkpointed").front();
  CHECK(taken["data"]["step"].get<int>() >= 50);
  CHECK(taken["data"]["bytes"].get<std::int64_t>() > 0);

  const auto changed = client.send("PATCH", "/v1/jobs/job-1", R"({"elastic":{"max":2},"priority":"high"})", {});
  INFO(changed.body);
  REQUIRE(changed.status == 200);
  CHECK(changed.json()["max"] == 2);
  CHECK(changed.json()["priority"] == 10);
  REQUIRE(client.post("/v1/jobs/job-1/resize", {{"size", 2}}).status == 200);
  REQUIRE(eventually([&] { return job_of(client)["size"] == 2; }));
  const auto refused = client.send("PATCH", "/v1/jobs/job-1", R"({"batch":{"global":64}})", {});
  CHECK(refused.status == 422);
  CHECK(refused.body.find("submit a new job") != std::string::npos);
}

}  // namespace tidepool::test
