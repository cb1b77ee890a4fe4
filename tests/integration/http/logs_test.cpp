#include <catch2/catch.hpp>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

struct LogScene {
  RestFixture fixture;
  JobId job;
  WorkerId worker;
  std::string path;
  LogScene() {
    fixture.service.join_node(4);
    job = fixture.submit();
    worker = fixture.service.published()->state.find_job(job)->membership.workers.front();
    path = "/v1/jobs/" + job.text() + "/logs";
  }
  RawResponse get(const std::string& query = "") const {
    return fixture.call({.path = path + query, .token = fixture.admin});
  }
};

TEST_CASE("output is read from an offset, from the end, and with a limit") {
  LogScene scene;
  scene.fixture.service.write_log(scene.worker, "0123456789", false);
  auto all = scene.get();
  CHECK(all.status == 200);
  CHECK(all.body == "0123456789");
  CHECK(all.headers["tidepool-next-offset"] == "10");
  CHECK(all.headers["tidepool-log-end"] == "false");
  CHECK(all.headers["tidepool-worker"] == scene.worker.text());
  CHECK(scene.get("?offset=4&limit=3").body == "456");
  CHECK(scene.get("?offset=-2").body == "89");
  CHECK(scene.get("?offset=10").body.empty());
  scene.fixture.service.write_log(scene.worker, "", true);
  CHECK(scene.get().headers["tidepool-log-end"] == "true");
}

TEST_CASE("a followed log grows until its worker has ended") {
  LogScene scene;
  scene.fixture.service.write_log(scene.worker, "first\n", false);
  RawConnection follow(scene.fixture.port);
  follow.send(scene.fixture.request({.path = scene.path + "?follow=true", .token = scene.fixture.admin}));
  REQUIRE(follow.wait_for("first\n"));
  scene.fixture.service.write_log(scene.worker, "second\n", false);
  REQUIRE(follow.wait_for("second\n"));
  scene.fixture.service.write_log(scene.worker, "last\n", true);
  const auto response = follow.response();
  CHECK(response.body == "first\nsecond\nlast\n");
  CHECK(follow.wait_for_close());
}

TEST_CASE("output that was dropped is told: by the offset of a page, and by a line of a followed log") {
  LogScene scene;
  scene.fixture.service.write_log(scene.worker, std::string(1'500'000, 'x') + "\n", false);
  CHECK(scene.get("?offset=4&limit=3").headers["tidepool-offset"] == "4");
  scene.fixture.service.drop_log(scene.worker);
  scene.fixture.service.write_log(scene.worker, "newest\n", true);
  auto page = scene.get();
  CHECK(page.body == "newest\n");
  CHECK(page.headers["tidepool-offset"] == "1500001");
  CHECK(scene.get("?follow=true").body == "[older output was dropped (1.4MiB)]\nnewest\n");
}

TEST_CASE("a followed log ends with the token of the one who follows it") {
  LogScene scene;
  scene.fixture.service.write_log(scene.worker, "first\n", false);
  const std::string token = scene.fixture.service.add_token("viewer");
  RawConnection follow(scene.fixture.port);
  follow.send(scene.fixture.request({.path = scene.path + "?follow=true", .token = token}));
  REQUIRE(follow.wait_for("first\n"));
  const std::string id = token.substr(3, token.rfind('_') - 3);
  REQUIRE(scene.fixture.call({.method = "DELETE", .path = "/v1/tokens/" + id, .token = scene.fixture.admin}).status ==
          200);
  CHECK(follow.wait_for_close());
}

TEST_CASE("a worker of another job, or of none, is not found") {
  LogScene scene;
  const JobId other = scene.fixture.submit();
  const auto workers = scene.fixture.service.published()->state.find_job(other)->membership.workers;
  REQUIRE(!workers.empty());
  scene.fixture.service.write_log(workers.front(), "secret", false);
  CHECK(scene.get("?worker=" + workers.front().text()).status == 404);
  CHECK(scene.get("?worker=w-99").status == 404);
  CHECK(scene.get("?worker=nonsense").status == 404);
  CHECK(scene.get("?worker=nonsense").body.find("as does: schedctl get " + scene.job.text()) != std::string::npos);
  CHECK(scene.get("?worker=" + scene.worker.text()).status == 404);  // it has written nothing yet
  CHECK(scene.get("?limit=0").status == 400);
  CHECK(scene.get("?follow=maybe").status == 400);
}

TEST_CASE("of a job that has had no worker it is said where to see why, and of another worker which there are") {
  const RestFixture fixture;
  const std::string id = fixture.submit().text();
  const auto hint = [&](const std::string& query) {
    const std::string path = "/v1/jobs/" + id + "/logs" + query;
    return fixture.json_of({.path = path, .token = fixture.admin}, 404).at("hint");
  };
  CHECK(hint("") == "GET /v1/jobs/" + id + "/explain says why, as does: schedctl why " + id);
  CHECK(hint("?worker=w-99") == "GET /v1/jobs/" + id + "/workers lists those alive, as does: schedctl get " + id);
}

TEST_CASE("the output of a job that has ended can still be read") {
  LogScene scene;
  scene.fixture.service.run_steps(scene.job, 1);
  scene.fixture.service.write_log(scene.worker, "bye\n", true);
  scene.fixture.service.say(scene.worker, api::FinishedMessage{.last_step = 1, .loss = 2.5});
  for (const WorkerId worker :
       std::vector(scene.fixture.service.published()->state.find_job(scene.job)->membership.workers)) {
    scene.fixture.service.exit(worker);
  }
  REQUIRE(scene.fixture.service.published()->state.has_ended(scene.job));
  CHECK(scene.get().body == "bye\n");
  CHECK(scene.get("?worker=" + scene.worker.text()).body == "bye\n");
  CHECK(scene.get("?worker=w-99").status == 404);
}

}  // namespace
}  // namespace tidepool::test
