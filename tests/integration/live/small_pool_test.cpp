// Six real trainers on four slots of one machine: what they tell of their length, which are preempted when, and how
// often sizes change. Judged by the journal's events, whatever else the machine does meanwhile.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/support/live_job.hpp"

namespace tidepool::test {
namespace {

constexpr int kJobs = 6;
constexpr int kResizesAMinute = 4;

double seconds_of(const nlohmann::json& event) {
  const std::string clock = event.at("at").get<std::string>().substr(11, 12);
  return std::stod(clock.substr(0, 2)) * 3600 + std::stod(clock.substr(3, 2)) * 60 + std::stod(clock.substr(6));
}

// Under the sanitizer a step takes many times as long, and what is checked is the same for fewer of them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kShortest = 40;
#else
constexpr int kShortest = 300;
#endif
#else
constexpr int kShortest = 300;
#endif

int steps_of(int number) {
  return kShortest * (number + 1);
}

nlohmann::json pool_job(const TemporaryFolder& folder, int number) {
  nlohmann::json job = job_on(folder, steps_of(number));
  job["name"] = "pool-" + std::to_string(number);
  job["run"]["args"]["hidden"] = 64;
  job["elastic"] = {{"min", number % 3 == 2 ? 2 : 1}, {"max", 4}, {"cooldown", "2s"}};
  job["scaling"] = {{"every_steps", 20}};
  return job;
}

std::string id_of(int number) {
  return "job-" + std::to_string(number);
}

bool all_succeeded(HttpClient& client) {
  const auto jobs = client.get("/v1/jobs").json();
  return std::all_of(jobs.at("items").begin(), jobs.at("items").end(),
                     [](const auto& job) { return job.at("state") == "succeeded"; });
}

std::map<std::string, std::vector<nlohmann::json>> by_job(std::vector<nlohmann::json> events) {
  std::map<std::string, std::vector<nlohmann::json>> jobs;
  for (auto& event : events) jobs[event.at("job").get<std::string>()].push_back(std::move(event));
  return jobs;
}

int most_in_a_minute(const std::vector<nlohmann::json>& events) {
  std::ptrdiff_t most = 0;
  for (const auto& first : events) {
    const double from = seconds_of(first);
    most = std::max(most, std::count_if(events.begin(), events.end(), [&](const auto& event) {
                      return seconds_of(event) >= from && seconds_of(event) < from + 60;
                    }));
  }
  return static_cast<int>(most);
}

// How long the job stepped after it had come back from this parking.
double stepped_after(const nlohmann::json& parked, const nlohmann::json& finished,
                     const std::vector<nlohmann::json>& resumed) {
  for (const auto& event : resumed) {
    if (seconds_of(event) >= seconds_of(parked)) return seconds_of(finished) - seconds_of(event);
  }
  return 0;
}

}  // namespace

TEST_CASE("real trainers on a small pool tell their length, keep their sizes, and lose no slots near their end") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "4"}});
  INFO(daemon.errors());
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  for (int number = 1; number <= kJobs; ++number) {
    const auto reply = client.post("/v1/jobs", pool_job(folder, number));
    INFO(reply.body);
    REQUIRE(reply.status == 201);
  }
  REQUIRE(eventually([&] { return all_succeeded(client); }, 400));

  auto resized = by_job(events_of(client, "job.resized"));
  auto parked = by_job(events_of(client, "job.parked"));
  auto resumed = by_job(events_of(client, "job.resumed"));
  auto finished = by_job(events_of(client, "job.finished"));
  for (int number = 1; number <= kJobs; ++number) {
    const std::string id = id_of(number);
    CAPTURE(id);
    const auto progress = client.get("/v1/jobs/" + id).json().at("progress");
    CHECK(progress.at("step") == steps_of(number));
    CHECK(most_in_a_minute(resized[id]) <= kResizesAMinute);
    for (const auto& event : parked[id]) {
      INFO(event.dump());
      // Its own start takes longer than this on any machine.
      CHECK(stepped_after(event, finished.at(id).front(), resumed[id]) > 0.1);
    }
  }
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_exit() == 0);
}

}  // namespace tidepool::test
