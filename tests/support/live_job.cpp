#include "tests/support/live_job.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/file_text.hpp"

namespace tidepool::test {

bool programs_are_built() {
  return built_program("schedulerd") && built_program("agentd") && built_program("tidepool-trainer");
}

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

nlohmann::json job_of(HttpClient& client) {
  const auto reply = client.get("/v1/jobs/job-1");
  return reply.status == 200 ? reply.json() : nlohmann::json{{"state", ""}, {"progress", {{"step", 0}}}};
}

bool reaches_step(HttpClient& client, int step) {
  return eventually([&] { return job_of(client)["progress"]["step"].get<int>() >= step; }, 120);
}

bool reaches_state(HttpClient& client, const std::string& state, int seconds) {
  return eventually([&] { return job_of(client)["state"] == state; }, seconds);
}

bool ends_well(HttpClient& client) {
  return reaches_state(client, "succeeded", 240);
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

std::int64_t check_audits(HttpClient& client) {
  const auto audits = events_of(client, "data.epoch_audited");
  REQUIRE(audits.size() > 1);
  std::set<std::int64_t> epochs;
  std::int64_t used = 0;
  std::int64_t told = 0;  // of short epochs, one event tells of several
  for (const auto& audit : audits) {
    INFO(audit.dump());
    const auto of_event = audit["data"]["epochs"].get<std::int64_t>();
    told += of_event;
    CHECK(audit["data"]["used"] == audit["data"]["expected"]);
    CHECK(audit["data"]["checksum_ok"] == true);
    epochs.insert(audit["data"]["epoch"].get<std::int64_t>());
    used += of_event * audit["data"]["used"].get<std::int64_t>();
  }
  const std::int64_t missing = *epochs.rbegin() - *epochs.begin() + 1 - told;
  CHECK(missing == 0);
  CHECK(audits.size() == epochs.size());
  return used;
}

std::vector<pid_t> workers_of(const TemporaryFolder& folder) {
  std::vector<pid_t> found;
  for (const pid_t pid : processes_with(folder.path().string())) {
    const std::string line = text_of_file("/proc/" + std::to_string(pid) + "/cmdline");
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

}  // namespace tidepool::test
