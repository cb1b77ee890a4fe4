#include <catch2/catch.hpp>
#include <chrono>
#include <future>

#include "tests/support/patience.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

std::string file_of(const std::string& name, const std::string& tenant, int size, int priority = 0) {
  return json{{"name", name},
              {"tenant", tenant},
              {"priority", priority},
              {"run", {{"trainer", "charlm"}, {"args", {{"data", "x"}, {"steps", 400}}}}},
              {"work", {{"samples", 512 * 1'000}}},
              {"batch", {{"global", 512}}},
              {"elastic", {{"min", size}, {"max", size}, {"cooldown", "0s"}}}}
      .dump();
}

// Four slots: a job of blue has them and has been measured, one of red waits for it.
struct ForecastScene {
  ForecastScene() : fixture(test_options(), "fifo") {
    fixture.service.join_node(4);
    running = submit("runs", "blue", 4);
    fixture.service.run_steps(running, 30);
    waiting = submit("waits", "red", 2);
  }
  JobId submit(const std::string& name, const std::string& tenant, int size) {
    const json job = fixture.json_of(
        {.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = file_of(name, tenant, size)}, 201);
    return JobId::parse(job.at("id").get<std::string>()).value();
  }
  json get(const std::string& path, const std::string& token) const {
    return fixture.json_of({.path = path, .token = token});
  }
  json plan(const std::string& body, const std::string& token) const {
    return fixture.json_of({.method = "POST", .path = "/v1/plan", .token = token, .body = body});
  }
  RestFixture fixture;
  JobId running;
  JobId waiting;
};

TEST_CASE("a job tells when it is expected to start and end, in its own answer, in lists and in its explanation") {
  ForecastScene scene;
  const json running = scene.get("/v1/jobs/" + scene.running.text(), scene.fixture.admin);
  CHECK(running.at("forecast").at("start").is_null());
  CHECK(running.at("forecast").at("end").at("basis") == "declared");
  CHECK(running.at("forecast").at("outcome") == "succeeded");
  const json waiting = scene.get("/v1/jobs/" + scene.waiting.text(), scene.fixture.admin);
  const json& forecast = waiting.at("forecast");
  CHECK(forecast.at("start").at("expected") >= running.at("forecast").at("end").at("expected"));
  CHECK(forecast.at("start").at("early") <= forecast.at("start").at("expected"));
  CHECK(forecast.at("start").at("expected") <= forecast.at("start").at("late"));
  CHECK(forecast.at("end").at("basis") == "kin");
  const json listed = scene.get("/v1/jobs", scene.fixture.admin);
  CHECK(listed.at("items").at(0).at("forecast") == forecast);
  CHECK(scene.get("/v1/jobs/" + scene.waiting.text() + "/explain", scene.fixture.admin).at("forecast") == forecast);
}

TEST_CASE("the list of forecasts has the caller's own jobs, page by page") {
  ForecastScene scene;
  const json all = scene.get("/v1/forecast", scene.fixture.admin);
  REQUIRE(all.at("items").size() == 2);
  CHECK(all.at("items").at(0).at("job") == scene.running.text());
  CHECK(all.at("policy") == "fifo");
  CHECK(all.at("cut_short") == false);
  CHECK(all.at("observed").at("end") == json{{"all", 0}, {"within", 0}});
  const json first = scene.get("/v1/forecast?limit=1", scene.fixture.admin);
  REQUIRE(first.at("items").size() == 1);
  const json second =
      scene.get("/v1/forecast?cursor=" + first.at("next_cursor").get<std::string>(), scene.fixture.admin);
  REQUIRE(second.at("items").size() == 1);
  CHECK(second.at("items").at(0) == all.at("items").at(1));
  const json own = scene.get("/v1/forecast", scene.fixture.service.add_token("viewer", "red"));
  REQUIRE(own.at("items").size() == 1);
  CHECK(own.at("items").at(0).at("job") == scene.waiting.text());
}

TEST_CASE("a plan says when the job would start, and stores nothing") {
  ForecastScene scene;
  const int before = scene.fixture.service.commands_carried_out();
  const json plan = scene.plan(file_of("next", "blue", 2), scene.fixture.admin);
  CHECK(plan.at("name") == "next");
  CHECK(plan.at("forecast").at("start").is_object());
  CHECK(plan.at("forecast").at("end").is_object());
  CHECK(plan.at("changes").empty());
  CHECK(plan.at("summary").get<std::string>().ends_with("no other job would be affected"));
  CHECK(scene.fixture.service.commands_carried_out() == before);
  CHECK(scene.get("/v1/jobs", scene.fixture.admin).at("items").size() == 2);
}

TEST_CASE("a plan of a job whose length is not known says so") {
  ForecastScene scene;
  json file = json::parse(file_of("next", "blue", 2));
  file.erase("work");
  // The steps of a built-in trainer are its length.
  CHECK(scene.plan(file.dump(), scene.fixture.admin).at("forecast").at("end").is_object());
  file["run"]["args"].erase("steps");
  const json plan = scene.plan(file.dump(), scene.fixture.admin);
  CHECK(plan.at("forecast").at("end").is_null());
  CHECK(plan.at("summary").get<std::string>().ends_with("Z; its end is unknown; no other job would be affected"));
}

TEST_CASE("a plan names the jobs that the caller may see and counts the others") {
  ForecastScene scene;
  const std::string first_in_line = file_of("urgent", "blue", 4, 20);
  const json all = scene.plan(first_in_line, scene.fixture.admin);
  REQUIRE(all.at("changes").size() == 1);
  const json& change = all.at("changes").at(0);
  CHECK(change.at("job") == scene.waiting.text());
  CHECK(change.at("effect") == "later");
  CHECK(change.at("starts_later_s") > 0);
  CHECK(change.at("ends_later_s") > 0);
  CHECK(all.at("others_changed") == 0);
  const json own = scene.plan(first_in_line, scene.fixture.service.add_token("submitter", "blue"));
  CHECK(own.at("changes").empty());
  CHECK(own.at("others_changed") == 1);
  CHECK(own.dump().find("waits") == std::string::npos);
}

TEST_CASE("a plan of a job that a submit would refuse is refused as the submit") {
  ForecastScene scene;
  const auto status = [&](const std::string& body, const std::string& token) {
    return scene.fixture.call({.method = "POST", .path = "/v1/plan", .token = token, .body = body}).status;
  };
  CHECK(status(R"({"name":"x","rum":{}})", scene.fixture.admin) == 422);
  CHECK(status("nothing", scene.fixture.admin) == 400);
  CHECK(status(file_of("x", "blue", 1), scene.fixture.service.add_token("submitter", "red")) == 403);
  CHECK(status(file_of("x", "blue", 1), scene.fixture.service.add_token("viewer")) == 403);
}

TEST_CASE("a token has one plan at a time made, and another token does not wait for it") {
  ForecastScene scene;
  const std::string blue = scene.fixture.service.add_token("submitter", "blue");
  const Ask ask{.method = "POST", .path = "/v1/plan", .token = blue, .body = file_of("next", "blue", 2)};
  auto begun = scene.fixture.service.hold_next_plan();
  RawConnection first(scene.fixture.port);
  first.send(scene.fixture.request(ask));
  REQUIRE(begun.wait_for(std::chrono::seconds(20 * patience())) == std::future_status::ready);
  const json refused = scene.fixture.json_of(ask, 429);
  CHECK(refused.at("code") == "TooManyPlans");
  CHECK(refused.at("hint").get<std::string>().starts_with("retry once"));
  CHECK(scene.plan(ask.body, scene.fixture.admin).at("name") == "next");
  scene.fixture.service.let_plan_go();
  CHECK(first.response().status == 200);
  CHECK(scene.plan(ask.body, blue).at("name") == "next");
}

TEST_CASE("a tenant far below has one plan at a time made, whichever of its tokens ask for it") {
  ForecastScene scene;
  const json tree = json::parse(R"({"tenants": [{"name": "blue"}, {"name": "red"}, {"name": "lab", "tenants": [
      {"name": "vision", "tenants": [{"name": "faces"}]}, {"name": "speech"}]}]})");
  (void)scene.fixture.json_of(
      {.method = "PUT", .path = "/v1/tenants", .token = scene.fixture.admin, .body = tree.dump()});
  const auto ask = [&](const char* tenant) {
    return Ask{.method = "POST",
               .path = "/v1/plan",
               .token = scene.fixture.service.add_token("submitter", tenant),
               .body = file_of("next", tenant, 2)};
  };
  auto begun = scene.fixture.service.hold_next_plan();
  RawConnection first(scene.fixture.port);
  first.send(scene.fixture.request(ask("faces")));
  REQUIRE(begun.wait_for(std::chrono::seconds(20 * patience())) == std::future_status::ready);
  const json refused = scene.fixture.json_of(ask("faces"), 429);
  CHECK(refused.at("code") == "TooManyPlans");
  CHECK(refused.at("detail").get<std::string>().starts_with("tenant faces and those below it have 1 plan at a time"));
  CHECK(scene.fixture.json_of(ask("speech")).at("name") == "next");
  scene.fixture.service.let_plan_go();
  CHECK(first.response().status == 200);
  CHECK(scene.fixture.json_of(ask("faces")).at("name") == "next");
}

TEST_CASE("a job that has ended has no forecast") {
  ForecastScene scene;
  const json cancelled = scene.fixture.json_of(
      {.method = "DELETE", .path = "/v1/jobs/" + scene.waiting.text(), .token = scene.fixture.admin});
  CHECK(cancelled.at("forecast").is_null());
  CHECK(scene.get("/v1/jobs/" + scene.waiting.text(), scene.fixture.admin).at("forecast").is_null());
  CHECK(scene.get("/v1/forecast", scene.fixture.admin).at("items").size() == 1);
}

}  // namespace
}  // namespace tidepool::test
