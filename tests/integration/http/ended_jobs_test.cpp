// Jobs that have ended and left the daemon's state, as clients see them: as if they were still there.
#include <future>
#include <set>

#include <catch2/catch.hpp>

#include "schedulerd/live/http/handlers.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// Thirty jobs that wait, every third of them cancelled; every second one is red's, the others are blue's.
struct EndedScene {
  RestFixture fixture;
  std::set<std::string> cancelled;

  EndedScene() {
    for (int i = 1; i <= 30; ++i) {
      const json job = {{"name", "j" + std::to_string(i)},
                        {"tenant", i % 2 == 0 ? "red" : "blue"},
                        {"run", {{"command", {"true"}}}},
                        {"labels", {{"n", std::to_string(i)}}}};
      REQUIRE(fixture.call({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = job.dump()}).status ==
              201);
    }
    for (int i = 3; i <= 30; i += 3) {
      const std::string id = "job-" + std::to_string(i);
      REQUIRE(fixture.call({.method = "DELETE", .path = "/v1/jobs/" + id, .token = fixture.admin}).status == 200);
      cancelled.insert(id);
    }
  }
  [[nodiscard]] json get(const std::string& path, int status = 200) {
    return fixture.json_of({.path = path, .token = fixture.admin}, status);
  }
  // Ids, page by page.
  [[nodiscard]] std::vector<std::string> list(const std::string& query, const std::string& token) {
    std::vector<std::string> ids;
    std::string cursor;
    do {
      const json page = fixture.json_of({.path = "/v1/jobs?" + query + cursor, .token = token});
      for (const auto& job : page.at("items")) ids.push_back(job.at("id"));
      cursor = page.at("next_cursor").is_null() ? "" : "&cursor=" + page.at("next_cursor").get<std::string>();
    } while (!cursor.empty());
    return ids;
  }
};

std::vector<std::string> ids(int from, int by) {
  std::vector<std::string> ids;
  for (int i = from; i > 0; i -= by) ids.push_back("job-" + std::to_string(i));
  return ids;
}

TEST_CASE("ended jobs stand among the others in every list, newest first, none twice") {
  EndedScene scene;
  REQUIRE(scene.fixture.service.published()->state.jobs.size() == 20);
  const std::string& admin = scene.fixture.admin;
  for (const int limit : {1, 4, 30, 500}) {
    const std::string size = "limit=" + std::to_string(limit);
    CHECK(scene.list(size, admin) == ids(30, 1));
    CHECK(scene.list(size + "&state=cancelled", admin) == ids(30, 3));
    CHECK(scene.list(size + "&state=cancelled&tenant=red", admin) == ids(30, 6));
    CHECK(scene.list(size + "&state=succeeded,failed", admin).empty());
    CHECK(scene.list(size + "&tenant=blue", admin) == ids(29, 2));
    CHECK(scene.list(size + "&state=pending", admin).size() == 20);
    CHECK(scene.list(size + "&state=pending,cancelled", admin) == ids(30, 1));
  }
}

class Answered final : public live::http::Responder::Channel {
 public:
  void send(live::http::HttpResponse response) override { body.set_value(std::move(response.body)); }
  std::shared_ptr<live::http::StreamWriter> stream(live::http::HttpResponse /*head*/) override { return nullptr; }

  std::promise<std::string> body;
};

// The list as a request gets it that has come in while this picture was the newest.
json listed_from(const RestFixture& fixture, std::shared_ptr<const live::Published> seen,
                 std::map<std::string, std::string> query) {
  const auto answered = std::make_shared<Answered>();
  live::http::Call call{.request = {.method = "GET", .path = "/v1/jobs", .query = std::move(query)},
                        .responder = live::http::Responder(answered),
                        .caller = {.token_id = "t", .role = live::http::Role::kAdmin},
                        .id = "",
                        .seen = std::move(seen)};
  fixture.rest->io().post([rest = fixture.rest, call = std::move(call)] { live::http::list_jobs(*rest, call); });
  return json::parse(answered->body.get_future().get());
}

TEST_CASE("a list does not end early where jobs have ended since its picture was taken") {
  EndedScene scene;
  const auto before = scene.fixture.service.published();
  for (const char* id : {"job-29", "job-28", "job-26", "job-25"}) {
    scene.fixture.json_of({.method = "DELETE", .path = std::string("/v1/jobs/") + id, .token = scene.fixture.admin});
  }
  for (const char* limit : {"1", "2", "4"}) {
    std::vector<std::string> found;
    std::map<std::string, std::string> query = {{"limit", limit}, {"state", "cancelled"}};
    for (json next = ""; !next.is_null(); query["cursor"] = next.is_null() ? "" : next.get<std::string>()) {
      const json page = listed_from(scene.fixture, before, query);
      for (const auto& job : page.at("items")) found.push_back(job.at("id"));
      next = page.at("next_cursor");
    }
    CHECK(found == ids(30, 3));
  }
}

TEST_CASE("an ended job that cannot be read does not end a list") {
  EndedScene scene;
  scene.fixture.service.damage_ended(JobId(24));
  std::vector<std::string> others = ids(30, 3);
  std::erase(others, "job-24");
  for (const int limit : {1, 2, 3, 9, 10, 500}) {
    CHECK(scene.list("limit=" + std::to_string(limit) + "&state=cancelled", scene.fixture.admin) == others);
  }
}

// Without the job's file, which lists leave out.
json shown_alone(EndedScene& scene, const std::string& id, const std::string& token) {
  json job = scene.fixture.json_of({.path = "/v1/jobs/" + id, .token = token});
  job.erase("spec");
  return job;
}

TEST_CASE("a list has ended jobs as each is shown alone, to everyone and to a tenant") {
  EndedScene scene;
  const std::string red = scene.fixture.service.add_token("viewer", "red");
  for (const std::string& token : {scene.fixture.admin, red}) {
    const json page = scene.fixture.json_of({.path = "/v1/jobs?state=cancelled", .token = token});
    REQUIRE(page.at("items").size() == (token == red ? 5 : 10));
    for (const auto& job : page.at("items")) CHECK(job == shown_alone(scene, job.at("id"), token));
  }
}

TEST_CASE("a list of one name has the jobs that wait and those that have ended") {
  EndedScene scene;
  const std::string& admin = scene.fixture.admin;
  const std::string red = scene.fixture.service.add_token("viewer", "red");
  CHECK(scene.list("name=j6", admin) == std::vector<std::string>{"job-6"});
  CHECK(scene.list("name=j7", admin) == std::vector<std::string>{"job-7"});
  CHECK(scene.list("name=j6&state=pending", admin).empty());
  CHECK(scene.list("name=j6", red) == std::vector<std::string>{"job-6"});
  CHECK(scene.list("name=j3", red).empty());
  CHECK(scene.list("name=j", admin).empty());
}

TEST_CASE("a tenant finds its own ended jobs and no others") {
  EndedScene scene;
  const std::string red = scene.fixture.service.add_token("submitter", "red");
  CHECK(scene.list("limit=7", red) == ids(30, 2));
  CHECK(scene.list("limit=7&state=cancelled", red) == ids(30, 6));
  CHECK(scene.fixture.call({.path = "/v1/jobs/job-6", .token = red}).status == 200);
  for (const char* view : {"", "/explain", "/events", "/decisions", "/metrics", "/workers", "/cost", "/logs"}) {
    CHECK(scene.fixture.call({.path = std::string("/v1/jobs/job-3") + view, .token = red}).status == 404);
  }
}

TEST_CASE("what a tenant is told names its own ended jobs, and those of others stay unnamed") {
  EndedScene scene;
  const std::string red = scene.fixture.service.add_token("viewer", "red");
  for (const char* view : {"", "/explain", "/events", "/decisions", "/metrics", "/workers", "/cost"}) {
    CHECK(scene.fixture.call({.path = std::string("/v1/jobs/job-6") + view, .token = red}).status == 200);
  }
  int ended_by_decision = 0;
  const json decisions = scene.fixture.json_of({.path = "/v1/decisions?limit=500", .token = red});
  for (const auto& decision : decisions.at("items")) {
    for (const auto& intent : decision.at("intents")) {
      REQUIRE(intent.at("job").get<std::string>().starts_with("job-"));
      const int number = std::stoi(intent.at("job").get<std::string>().substr(4));
      CHECK(number % 2 == 0);
      ended_by_decision += intent.at("kind") == "end_job" ? 1 : 0;
    }
  }
  CHECK(ended_by_decision == 5);
  int told = 0;
  const json events = scene.fixture.json_of({.path = "/v1/events?limit=500", .token = red});
  for (const auto& event : events.at("items")) {
    if (event.at("type") != "decision.made") continue;
    for (const auto& intent : event.at("data").at("intents")) {
      CHECK(std::stoi(intent.at("job").get<std::string>().substr(4)) % 2 == 0);
      ++told;
    }
  }
  CHECK(told == 5);
}

TEST_CASE("an ended job is shown from all its sides") {
  EndedScene scene;
  const json job = scene.get("/v1/jobs/job-6");
  CHECK(job.at("state") == "cancelled");
  CHECK(job.at("name") == "j6");
  CHECK(job.at("labels").at("n") == "6");
  CHECK(job.at("spec").at("run").at("command") == json::array({"true"}));
  CHECK_FALSE(job.at("finished_at").is_null());
  CHECK(scene.get("/v1/jobs/job-6/explain").at("state") == "cancelled");
  CHECK_FALSE(scene.get("/v1/jobs/job-6/explain").at("summary").get<std::string>().empty());
  CHECK(scene.get("/v1/jobs/job-6/events").at("items").back().at("type") == "job.finished");
  CHECK_FALSE(scene.get("/v1/jobs/job-6/decisions").at("items").empty());
  CHECK(scene.get("/v1/jobs/job-6/workers").at("items").empty());
  CHECK(scene.get("/v1/jobs/job-6/cost").at("job") == "job-6");
  CHECK(scene.get("/v1/jobs/job-6/metrics").at("points").empty());
  CHECK(scene.get("/v1/jobs/job-31", 404).at("code") == "UnknownJob");
}

TEST_CASE("nothing more can be wished for an ended job, and the gauges count it") {
  EndedScene scene;
  const std::string& admin = scene.fixture.admin;
  CHECK(scene.fixture.call({.method = "DELETE", .path = "/v1/jobs/job-6", .token = admin}).status == 409);
  CHECK(scene.fixture.call({.method = "POST", .path = "/v1/jobs/job-6/suspend", .token = admin}).status == 409);
  CHECK(scene.fixture.call({.path = "/metrics", .token = admin}).body.find("sched_jobs{state=\"cancelled\"} 10") !=
        std::string::npos);
}

}  // namespace
}  // namespace tidepool::test
