#include <algorithm>
#include <cmath>
#include <future>

#include <catch2/catch.hpp>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// A job that trains on two of four slots, and one that waits for more slots than there are.
struct ViewScene {
  RestFixture fixture;
  JobId job;
  ViewScene() {
    fixture.service.join_node(4);
    job = fixture.submit("blue", 4);
    fixture.service.run_steps(job, 25);
    fixture.json_of(
        {.method = "POST",
         .path = "/v1/jobs",
         .token = fixture.admin,
         .body = R"({"name":"huge","run":{"trainer":"mlp","args":{"data":"x.csv"}},"elastic":{"min":9,"max":9}})"},
        201);
  }
  json get(const std::string& path) const { return fixture.json_of({.path = path, .token = fixture.admin}); }
};

TEST_CASE("a running job shows its progress, its cost and its measured sizes") {
  ViewScene scene;
  const json job = scene.get("/v1/jobs/" + scene.job.text());
  CHECK(job.at("progress").at("step") == 25);
  CHECK(job.at("progress").at("fraction") == 25.0 / 400);
  CHECK(job.at("progress").at("loss") == 2.5);
  CHECK(job.at("cost").at("currency") == "USD");
  CHECK(job.at("cost").at("per_hour") != "0.00");
  const json cost = scene.get("/v1/jobs/" + scene.job.text() + "/cost");
  CHECK(cost.at("amount") == job.at("cost").at("amount"));
  const json metrics = scene.get("/v1/jobs/" + scene.job.text() + "/metrics");
  CHECK(metrics.at("sizes") == job.at("sizes"));
  CHECK(!metrics.at("sizes").empty());
  CHECK(metrics.at("fit").at("model") == "usl");
}

TEST_CASE("the cost of a job that reports nothing goes on") {
  ViewScene scene;
  const auto seconds = [&] {
    const std::string path = "/v1/jobs/" + scene.job.text();
    const double held = scene.get(path).at("cost").at("slot_seconds").get<double>();
    CHECK(scene.get(path + "/cost").at("slot_seconds") == held);
    CHECK(scene.get("/v1/jobs?tenant=blue").at("items").at(0).at("cost").at("slot_seconds") == held);
    return held;
  };
  const double before = seconds();
  scene.fixture.json_of(
      {.method = "POST", .path = "/v1/tokens", .token = scene.fixture.admin, .body = R"({"name":"n","role":"viewer"})"},
      201);  // a second passes, and nothing happens to the job
  CHECK(seconds() > before);
}

TEST_CASE("metric points come as stored, and not more than asked for") {
  ViewScene scene;
  live::MetricPoint point{.at = Instant::from_micros(5'000'000),
                          .step = 10,
                          .size = 2,
                          .generation = 1,
                          .samples_per_second = 5'610,
                          .step_ms = 91.2,
                          .loss = 4.1,
                          .compute_ms = {80.1, 81}};
  scene.fixture.service.add_metric_point(scene.job, point);
  point.step = 11;
  point.loss = std::nan("");  // a training that diverged; JSON knows no NaN
  scene.fixture.service.add_metric_point(scene.job, point);
  const json metrics = scene.get("/v1/jobs/" + scene.job.text() + "/metrics");
  REQUIRE(metrics.at("points").size() == 2);
  CHECK(metrics.at("points").at(0).at("compute_ms") == json({80.1, 81.0}));
  CHECK(metrics.at("points").at(1).at("loss").is_null());
  CHECK(scene.get("/v1/jobs/" + scene.job.text() + "/metrics?limit=1").at("points").size() == 1);
}

TEST_CASE("the explanation says why in words, for a job that runs and for one that waits") {
  ViewScene scene;
  const json running = scene.get("/v1/jobs/" + scene.job.text() + "/explain");
  CHECK(!running.at("summary").get<std::string>().empty());
  const json waiting = scene.get("/v1/jobs/job-2/explain");
  CHECK(waiting.at("reason").at("code") == "NeverFits");
  CHECK(!waiting.at("unblocks").empty());
}

TEST_CASE("workers, nodes and policies are listed as the document says") {
  ViewScene scene;
  const json workers = scene.get("/v1/jobs/" + scene.job.text() + "/workers");
  REQUIRE(!workers.at("items").empty());
  CHECK(workers.at("items").at(0).at("rank") == 0);
  CHECK(workers.at("items").at(0).at("node_name") == "n1");
  const json nodes = scene.get("/v1/nodes");
  REQUIRE(nodes.at("items").size() == 1);
  CHECK(nodes.at("items").at(0).at("slots").size() == 4);
  CHECK(nodes.at("items").at(0).at("slots").at(0).at("job") == scene.job.text());
  const json policies = scene.get("/v1/policies");
  CHECK(policies.at("items").size() == 8);
  CHECK(policies.at("items").at(0).at("active") == true);
  const json page = scene.get("/v1/policies?limit=7");
  const json rest = scene.get("/v1/policies?limit=7&cursor=" + page.at("next_cursor").get<std::string>());
  CHECK(rest.at("items").size() == 1);
}

TEST_CASE("decisions are told in words, newest first, page by page") {
  ViewScene scene;
  const json all = scene.get("/v1/decisions");
  REQUIRE(all.at("items").size() >= 3);
  std::vector<std::string> ids;
  std::string cursor;
  do {
    const json page = scene.get("/v1/decisions?limit=2" + cursor);
    for (const auto& decision : page.at("items")) ids.push_back(decision.at("id"));
    cursor = page.at("next_cursor").is_null() ? "" : "&cursor=" + page.at("next_cursor").get<std::string>();
  } while (!cursor.empty());
  REQUIRE(ids.size() == all.at("items").size());
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(all.at("items").at(i).at("id") == ids[i]);
  bool started = false;
  for (const auto& decision : all.at("items")) {
    for (const auto& intent : decision.at("intents")) {
      CHECK(!intent.at("reason").at("text").get<std::string>().empty());
      started = started || intent.at("kind") == "start";
    }
  }
  CHECK(started);
  CHECK(scene.get("/v1/decisions/" + ids.back()).at("id") == ids.back());
  CHECK(scene.fixture.call({.path = "/v1/decisions/dec-999", .token = scene.fixture.admin}).status == 404);
  const json of_job = scene.get("/v1/jobs/job-2/decisions");
  CHECK(!of_job.at("items").empty());
  CHECK(of_job.at("items").size() < all.at("items").size());
}

TEST_CASE("events are numbered without gaps and page to the end") {
  ViewScene scene;
  const json all = scene.get("/v1/events");
  std::uint64_t expected = 1;
  for (const auto& event : all.at("items")) CHECK(event.at("seq") == expected++);
  CHECK(all.at("as_of_seq") == expected - 1);
  const json tail = scene.get("/v1/events?after=" + std::to_string(expected - 3));
  CHECK(tail.at("items").size() == 2);
  const json page = scene.get("/v1/events?limit=2");
  const json next = scene.get("/v1/events?limit=2&cursor=" + page.at("next_cursor").get<std::string>());
  CHECK(next.at("items").at(0).at("seq") == 3);
  const json of_job = scene.get("/v1/jobs/job-2/events");
  CHECK(!of_job.at("items").empty());
  for (const auto& event : of_job.at("items")) CHECK(event.at("job") == "job-2");
}

TEST_CASE("events are listed of one node, by its name or its id") {
  RestFixture fixture;
  fixture.service.join_node(2);
  fixture.service.join_node(2, "gpu-b");
  fixture.call({.method = "POST", .path = "/v1/nodes/node-2/cordon", .token = fixture.admin});
  const auto get = [&](const std::string& query, int status = 200) {
    return fixture.json_of({.path = "/v1/events?" + query, .token = fixture.admin}, status);
  };
  const json of_node = get("node=node-2").at("items");
  REQUIRE(of_node.size() > 1);
  for (const auto& event : of_node) CHECK(event.at("node") == "node-2");
  CHECK(of_node.at(0).at("type") == "node.joined");
  CHECK(get("node=gpu-b").at("items") == of_node);
  const json page = get("node=gpu-b&order=desc&limit=1");
  CHECK(page.at("items").at(0) == of_node.back());
  const json next = get("node=gpu-b&order=desc&limit=1&cursor=" + page.at("next_cursor").get<std::string>());
  CHECK(next.at("items").at(0) == of_node.at(of_node.size() - 2));
  CHECK(get("node=gpu-b&type=node.joined").at("items").size() == 1);
  CHECK(get("node=gpu-c", 404).at("code") == "UnknownNode");
  CHECK(get("node=node-3", 404).at("detail") == "there is no node node-3");
  fixture.submit();
  CHECK(get("node=gpu-b&job=job-1", 400).at("detail") == "job and node do not go together; give one of them");
}

TEST_CASE("events are listed from the newest on, and of one type") {
  ViewScene scene;
  for (const std::string& path : {std::string("/v1/events"), "/v1/jobs/" + scene.job.text() + "/events"}) {
    CAPTURE(path);
    json upside_down = scene.get(path).at("items");
    std::reverse(upside_down.begin(), upside_down.end());
    const json page = scene.get(path + "?order=desc&limit=2");
    const std::string cursor = page.at("next_cursor");
    json read = page.at("items");
    const json rest = scene.get(path + "?order=desc&cursor=" + cursor);
    for (const auto& event : rest.at("items")) read.push_back(event);
    CHECK(read == upside_down);
    CHECK(scene.fixture.call({.path = path + "?cursor=" + cursor, .token = scene.fixture.admin}).status == 400);
    const json started = scene.get(path + "?type=worker.started&limit=1");
    CHECK(started.at("items").at(0).at("type") == "worker.started");
    CHECK(started.at("next_cursor").is_string());
    CHECK(scene.fixture.call({.path = path + "?order=newest", .token = scene.fixture.admin}).status == 400);
    const json unknown =
        scene.fixture.json_of({.path = path + "?type=worker.startet", .token = scene.fixture.admin}, 400);
    CHECK(unknown.at("detail") == "type \"worker.startet\" is no type of event; did you mean \"worker.started\"?");
    CHECK(scene.fixture.call({.path = path + "?type=foo", .token = scene.fixture.admin}).status == 400);
  }
  const json started = scene.get("/v1/events?type=worker.started&limit=1").at("items").at(0);
  const std::string node = started.at("node");
  CHECK(scene.get("/v1/events?type=worker.started&limit=1&node=" + node).at("items").at(0) == started);
}

TEST_CASE("a brief list of events leaves out how far jobs are, unless that is asked for by its type") {
  ViewScene scene;
  for (const std::string& path : {std::string("/v1/events"), "/v1/jobs/" + scene.job.text() + "/events"}) {
    CAPTURE(path);
    const json all = scene.get(path);
    json kept = json::array();
    for (const auto& event : all.at("items")) {
      if (event.at("type") != "job.progressed") kept.push_back(event);
    }
    CHECK(scene.get(path + "?brief=true").at("items") == kept);
    CHECK(scene.get(path + "?brief=false").at("items").size() > kept.size());
    CHECK_FALSE(scene.get(path + "?brief=true&type=job.progressed").at("items").empty());
    CHECK(scene.fixture.call({.path = path + "?brief=1", .token = scene.fixture.admin}).status == 400);
  }
}

TEST_CASE("an empty query parameter is refused: it is no wish for everything") {
  ViewScene scene;
  for (const auto& [path, name] : {std::pair{"/v1/jobs?tenant=", "tenant"},
                                   {"/v1/jobs?name", "name"},
                                   {"/v1/events?job=&limit=5", "job"},
                                   {"/v1/events/stream?after=", "after"},
                                   {"/v1/usage?by=", "by"}}) {
    INFO(path);
    const json refused = scene.fixture.json_of({.path = path, .token = scene.fixture.admin}, 400);
    CHECK(refused.at("code") == "BadParameter");
    CHECK(refused.at("detail") ==
          std::string("the query parameter \"") + name + "\" is empty; give it a value, or leave it out");
  }
}

TEST_CASE("a node can be cordoned and used again") {
  ViewScene scene;
  const auto post = [&](const char* action) {
    return scene.fixture.json_of(
        {.method = "POST", .path = std::string("/v1/nodes/node-1/") + action, .token = scene.fixture.admin});
  };
  CHECK(post("cordon").at("cordoned") == true);
  CHECK(post("uncordon").at("cordoned") == false);
  CHECK(
      scene.fixture.call({.method = "POST", .path = "/v1/nodes/node-9/cordon", .token = scene.fixture.admin}).status ==
      404);
}

TEST_CASE("an admin sets labels of a node and takes them away") {
  ViewScene scene;
  const auto post = [&](const std::string& body) {
    return scene.fixture.call(
        {.method = "POST", .path = "/v1/nodes/node-1/labels", .token = scene.fixture.admin, .body = body});
  };
  const auto labels = [&](const std::string& body) { return json::parse(post(body).body).at("labels"); };
  CHECK(labels(R"({"labels":{"rack":"r1","disk":"ssd"}})") == json({{"disk", "ssd"}, {"rack", "r1"}}));
  CHECK(labels(R"({"labels":{"rack":null}})") == json({{"disk", "ssd"}}));
  for (const char* bad : {R"({"labels":{}})", R"({"labels":{"rack":1}})", R"({"labels":{"a b":"c"}})",
                          R"({"labels":{"slot_type":"h100"}})", R"({"label":{"rack":"r1"}})"}) {
    const auto answer = post(bad);
    INFO(bad << ": " << answer.body);
    CHECK(answer.status == 422);
    CHECK(json::parse(answer.body).at("code") == "InvalidLabels");
  }
  CHECK(labels(R"({"labels":{"disk":"ssd"}})") == json({{"disk", "ssd"}}));
}

TEST_CASE("a node can be drained and used again") {
  ViewScene scene;
  const auto call = [&](const char* action, const std::string& body, const char* node = "node-1") {
    return scene.fixture.call({.method = "POST",
                               .path = std::string("/v1/nodes/") + node + "/" + action,
                               .token = scene.fixture.admin,
                               .body = body});
  };
  const json drained = json::parse(call("drain", R"({"deadline": "90s", "reason": "a new disk"})").body);
  CHECK(drained.at("drain").at("reason") == "a new disk");
  CHECK(drained.at("drain").at("drained") == false);
  CHECK(drained.at("cordoned") == false);
  CHECK(json::parse(call("undrain", "").body).at("drain").is_null());
  CHECK(json::parse(call("drain", "").body).at("drain").is_object());
  CHECK(call("drain", R"({"deadline": "soon"})").status == 422);
  CHECK(call("drain", R"({"until": "10m"})").status == 422);
  CHECK(call("drain", "{").status == 400);
  CHECK(call("drain", "", "node-9").status == 404);
}

TEST_CASE("a request that names a node where its id is wanted is told the id") {
  ViewScene scene;
  for (const char* action : {"cordon", "drain", "revoke"}) {
    INFO(action);
    const auto post = [&](const std::string& node) {
      return scene.fixture.json_of(
          {.method = "POST", .path = "/v1/nodes/" + node + "/" + action, .token = scene.fixture.admin}, 404);
    };
    const json by_name = post("n1");
    CHECK(by_name.at("code") == "UnknownNode");
    CHECK(by_name.at("detail") == "n1 is the name of a node, and this path takes its id");
    CHECK(by_name.at("hint") == "node-1 is its id");
    CHECK(post("n2").at("detail") == "there is no node n2");
  }
}

TEST_CASE("a reason that operators give has no control characters") {
  ViewScene scene;
  const std::string window = R"("node":"n1","from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z")";
  const auto post = [&](const std::string& path, const std::string& body) {
    return scene.fixture.call({.method = "POST", .path = path, .token = scene.fixture.admin, .body = body});
  };
  for (const char* bad : {R"(a\u0000b)", R"(\u001b[2J)", R"(two\nlines)", R"(\u007f)"}) {
    INFO(bad);
    const std::string reason = std::string(R"("reason":")") + bad + "\"";
    for (const RawResponse& refused : {post("/v1/nodes/node-1/drain", "{" + reason + "}"),
                                       post("/v1/maintenance", "{" + window + "," + reason + "}")}) {
      CHECK(refused.status == 422);
      const json finding = json::parse(refused.body).at("errors").at(0);
      CHECK(finding.at("pointer") == "/reason");
      CHECK(finding.at("code") == "Invalid");
    }
  }
  CHECK(scene.get("/v1/nodes").at("items").at(0).at("drain").is_null());
  const json drained = json::parse(post("/v1/nodes/node-1/drain", R"({"reason":"Lüfter <neu>"})").body);
  CHECK(drained.at("drain").at("reason") == "Lüfter <neu>");
}

TEST_CASE("a node that fails again and again is shown, and its faults can be cleared") {
  ViewScene scene;
  const auto node = [&] { return scene.get("/v1/nodes").at("items").at(0); };
  CHECK(node().at("faults").is_null());
  for (int loss = 0; loss < 3; ++loss) scene.fixture.service.lose_for_a_moment(NodeId(1));
  CHECK(node().at("faults").at("losses") == 3);
  CHECK(node().at("faults").at("unsteady_until").is_string());
  CHECK(node().at("cordoned") == false);
  const std::string metrics = scene.fixture.call({.path = "/metrics", .token = scene.fixture.admin}).body;
  CHECK(metrics.find("sched_nodes{state=\"unsteady\"} 1") != std::string::npos);
  const auto clear = [&](const char* id) {
    return scene.fixture.call(
        {.method = "POST", .path = std::string("/v1/nodes/") + id + "/clear-faults", .token = scene.fixture.admin});
  };
  CHECK(json::parse(clear("node-1").body).at("faults").is_null());
  CHECK(clear("node-9").status == 404);
}

TEST_CASE("a lost node that does not come back is removed") {
  ViewScene scene;
  const auto remove = [&](const char* id) {
    return scene.fixture.call(
        {.method = "DELETE", .path = std::string("/v1/nodes/") + id, .token = scene.fixture.admin});
  };
  CHECK(remove("node-9").status == 404);
  CHECK(remove("node-1").status == 409);
  CHECK(scene.get("/v1/nodes").at("items").size() == 1);
}

TEST_CASE("the removal of a node that is repeated with its key is told that it was carried out") {
  RestFixture fixture;
  fixture.service.join_node(1);
  fixture.service.lose(NodeId(1));
  const auto remove = [&](const std::string& key) {
    return fixture.call({.method = "DELETE",
                         .path = "/v1/nodes/node-1",
                         .token = fixture.admin,
                         .headers = "Idempotency-Key: " + key + "\r\n"});
  };
  const auto first = remove("k-1");
  INFO(first.body);
  REQUIRE(first.status == 200);
  auto again = remove("k-1");
  CHECK(again.status == 200);
  CHECK(json::parse(again.body).at("id") == "node-1");
  CHECK(again.headers["idempotent-replayed"] == "true");
  CHECK(json::parse(remove("k-2").body).at("code") == "UnknownNode");
}

TEST_CASE("slots that are not free after their worker's end are shown as quarantined, and can be released") {
  ViewScene scene;
  const auto slots = [&] { return scene.get("/v1/nodes").at("items").at(0).at("slots"); };
  const auto release = [&](const std::string& id) {
    return scene.fixture.call(
        {.method = "POST", .path = "/v1/nodes/" + id + "/release-slots", .token = scene.fixture.admin});
  };
  const std::string worker = slots().at(0).at("worker");
  CHECK(slots().at(0).at("quarantine").is_null());
  CHECK(release("node-1").status == 409);
  scene.fixture.service.hold_slots(*WorkerId::parse(worker), "memory of GPU-1 is still held");
  CHECK(slots().at(0).at("quarantine").at("why") == "memory of GPU-1 is still held");
  CHECK(slots().at(0).at("quarantine").at("since").is_string());
  CHECK(slots().at(0).at("worker") == worker);
  const auto metrics = [&] { return scene.fixture.call({.path = "/metrics", .token = scene.fixture.admin}).body; };
  CHECK(metrics().find("sched_slots{state=\"quarantined\"} 1") != std::string::npos);
  const auto released = release("node-1");
  REQUIRE(released.status == 200);
  CHECK(json::parse(released.body).at("slots").at(0).at("quarantine").is_null());
  CHECK(metrics().find("sched_slots{state=\"quarantined\"} 0") != std::string::npos);
  CHECK(release("node-9").status == 404);
}

TEST_CASE("a maintenance window of a word that is one node's id and another's name is refused") {
  ViewScene scene;
  scene.fixture.service.join_node(2, "node-1");
  const std::string far = R"("from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z")";
  const auto answer = scene.fixture.call({.method = "POST",
                                          .path = "/v1/maintenance",
                                          .token = scene.fixture.admin,
                                          .body = R"({"node":"node-1",)" + far + "}"});
  CHECK(answer.status == 422);
  CHECK(answer.body.find("the id of one node and the name of another") != std::string::npos);
}

TEST_CASE("a maintenance window of a node that is not there is refused with that word") {
  ViewScene scene;
  const json answer =
      scene.fixture.json_of({.method = "POST",
                             .path = "/v1/maintenance",
                             .token = scene.fixture.admin,
                             .body = R"({"node":"gpu-9","from":"2100-01-01T00:00:00Z","to":"2100-01-01T01:00:00Z"})"},
                            422);
  CHECK(answer.at("errors").at(0).at("message") ==
        "node is gpu-9, which is no node that has joined; GET /v1/nodes lists them");
}

TEST_CASE("a maintenance window is added, shown with its nodes, and taken away") {
  ViewScene scene;
  const auto post = [&](const std::string& body) {
    return scene.fixture.call(
        {.method = "POST", .path = "/v1/maintenance", .token = scene.fixture.admin, .body = body});
  };
  const std::string far = R"("from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z")";
  const auto added = post(R"({"node":"n1",)" + far + R"(,"every":"7d","reason":"firmware"})");
  REQUIRE(added.status == 201);
  const json window = json::parse(added.body);
  CHECK(window.at("id") == "mw-1");
  CHECK(window.at("state") == "planned");
  CHECK(window.at("selector") == json({{"node", {"n1"}}}));
  CHECK(window.at("nodes") == json({"node-1"}));
  CHECK(window.at("from") == "2999-01-01T02:00:00.000Z");
  CHECK(window.at("lead") == "10m");
  CHECK(window.at("every") == "7d");
  CHECK(scene.get("/v1/nodes").at("items").at(0).at("drain").is_null());
  const auto open =
      post(R"({"selector":{"node":["n1","n2"]},"from":"1970-01-01T00:00:00Z","to":"2999-01-01T00:00:00Z"})");
  REQUIRE(open.status == 201);
  CHECK(json::parse(open.body).at("state") == "open");
  const json drain = scene.get("/v1/nodes").at("items").at(0).at("drain");
  CHECK(drain.at("cause") == "maintenance");
  CHECK(drain.at("maintenance").at("window") == "mw-2");
  CHECK(drain.at("maintenance").at("begun") == true);
  CHECK(scene.get("/v1/maintenance").at("items").size() == 2);
  const auto remove = [&](const std::string& id) {
    return scene.fixture.call({.method = "DELETE", .path = "/v1/maintenance/" + id, .token = scene.fixture.admin});
  };
  CHECK(
      scene.fixture.call({.method = "POST", .path = "/v1/nodes/node-1/undrain", .token = scene.fixture.admin}).status ==
      409);
  CHECK(json::parse(remove("mw-2").body).at("id") == "mw-2");
  CHECK(scene.get("/v1/nodes").at("items").at(0).at("drain").is_null());
  CHECK(remove("mw-2").status == 404);
  CHECK(remove("2").status == 404);
  // Its answer may have been lost: the same request with its key is told that it was carried out.
  REQUIRE(post(R"({"node":"n1",)" + far + "}").status == 201);
  const auto with_key = [&](const std::string& id, const std::string& key) {
    return scene.fixture.call({.method = "DELETE",
                               .path = "/v1/maintenance/" + id,
                               .token = scene.fixture.admin,
                               .headers = "Idempotency-Key: " + key + "\r\n"});
  };
  REQUIRE(with_key("mw-3", "k-1").status == 200);
  auto again = with_key("mw-3", "k-1");
  CHECK(again.status == 200);
  CHECK(json::parse(again.body).at("id") == "mw-3");
  CHECK(again.headers["idempotent-replayed"] == "true");
  CHECK(json::parse(with_key("mw-3", "k-2").body).at("code") == "UnknownMaintenance");
  CHECK(with_key("3", "k-1").status == 404);
  for (const std::string& bad :
       {"{" + far + "}", R"({"node":"n9",)" + far + "}", R"({"node":"n1","selector":{"a":"b"},)" + far + "}",
        R"({"selector":{},)" + far + "}", std::string(R"({"node":"n1","from":"tomorrow","to":"2999-01-01T04:00:00Z"})"),
        R"({"node":"n1","every":"3s",)" + far + "}", R"({"node":"n1","lead":"soon",)" + far + "}",
        R"({"node":"n1","until":"x",)" + far + "}"}) {
    INFO(bad);
    CHECK(post(bad).status == 422);
  }
  CHECK(post("{").status == 400);
  const json both = json::parse(post(R"({"node":"n1","selector":{"a":"b"},)" + far + "}").body).at("errors").at(0);
  CHECK(both.at("pointer") == "/selector");
  CHECK(both.at("message").get<std::string>().find("together with node") != std::string::npos);
}

TEST_CASE("a maintenance window that is refused is told which field is wrong, once") {
  ViewScene scene;
  const auto findings = [&](const std::string& body) {
    const json refused = scene.fixture.json_of(
        {.method = "POST", .path = "/v1/maintenance", .token = scene.fixture.admin, .body = body}, 422);
    CHECK(refused.at("code") == "InvalidMaintenance");
    std::string told;
    for (const auto& each : refused.at("errors")) {
      told += each.at("pointer").get<std::string>() + " " + each.at("code").get<std::string>() + ";";
    }
    return told;
  };
  CHECK(findings(R"({"node":"n1","from":"2999-01-01T02:00:00Z"})") == "/to Missing;");
  CHECK(findings(R"({"node":"n1","from":"2999-01-01T02:00:00Z","to":"2999-01-01T02:00:00+00:00"})") ==
        "/to OutOfRange;");
  CHECK(findings(R"({"node":5,"from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z"})") == "/node WrongType;");
  CHECK(findings(R"({"node":"n1","from":5,"to":"2999-01-01T04:00:00Z"})") == "/from WrongType;");
  CHECK(findings(R"({"node":"n1","from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z","every":5})") ==
        "/every WrongType;");
  CHECK(findings(R"({"from":"2999-01-01T02:00:00Z","to":"2999-01-01T04:00:00Z"})") == "/node Missing;");
}

TEST_CASE("metrics count jobs, slots and reasons, without an id in any label") {
  ViewScene scene;
  const auto response = scene.fixture.call({.path = "/metrics", .token = scene.fixture.admin});
  for (const char* line :
       {"sched_jobs{state=\"pending\"} 1", "sched_pending_jobs{reason=\"NeverFits\"} 1", "sched_slots{state=\"free\"}",
        "sched_nodes{state=\"up\"} 1", "sched_wait_seconds_count",
        "sched_generation_stall_seconds_count{kind=\"start\"} 1", "sched_stragglers_replaced_total 0",
        "sched_commit_seconds_bucket", "sched_http_requests_total{class=\"2xx\"}", "sched_http_seconds_count"}) {
    INFO(line << "\n" << response.body);
    CHECK(response.body.find(line) != std::string::npos);
  }
  CHECK(response.body.find("job-1") == std::string::npos);
}

// The thread that writes snapshots has something to do until this ends or lets it go.
struct HeldRenders {
  explicit HeldRenders(live::TaskThread& renders) {
    const auto task = [this, released = let_go.get_future().share()] {
      begun.set_value();
      released.wait();
    };
    REQUIRE(renders.post(task));
    begun.get_future().wait();
  }
  std::promise<void> begun;
  std::promise<void> let_go;
};

TEST_CASE("other requests are answered while a snapshot is being written") {
  ViewScene scene;
  HeldRenders held(scene.fixture.rest->renders());
  RawConnection waiting(scene.fixture.port);
  waiting.send(scene.fixture.request({.path = "/v1/snapshot", .token = scene.fixture.admin}));
  CHECK(scene.fixture.json_of({.path = "/healthz"}).at("status") == "alive");
  CHECK(scene.get("/v1/jobs").at("items").size() == 2);
  held.let_go.set_value();
  const RawResponse answer = waiting.response();
  CHECK(answer.status == 200);
  CHECK(json::parse(answer.body).at("state").is_object());
}

TEST_CASE("two snapshots at most wait for the one that is being written") {
  ViewScene scene;
  HeldRenders held(scene.fixture.rest->renders());
  for (int waiting = 0; waiting < 2; ++waiting) REQUIRE(scene.fixture.rest->renders().post([] {}));
  const json refused = scene.fixture.json_of({.path = "/v1/snapshot", .token = scene.fixture.admin}, 429);
  CHECK(refused.at("code") == "TooManySnapshots");
  CHECK(refused.at("retryable") == true);
  held.let_go.set_value();
}

TEST_CASE("a server that has stopped writes no snapshots") {
  ViewScene scene;
  scene.fixture.rest->stop();
  CHECK(!scene.fixture.rest->renders().post([] {}));
}

TEST_CASE("the snapshot, the document, health and readiness answer") {
  ViewScene scene;
  CHECK(scene.get("/v1/snapshot").at("state").is_object());
  CHECK(scene.fixture.json_of({.path = "/v1/openapi.json"}).at("openapi") == "3.1.0");
  CHECK(scene.fixture.json_of({.path = "/healthz"}).at("status") == "alive");
  CHECK(scene.fixture.json_of({.path = "/readyz"}).at("status") == "ready");
  CHECK(scene.fixture.call({.path = "/"}).body.find("built without the dashboard") != std::string::npos);
  CHECK(scene.fixture.call({.path = "/favicon.ico"}).status == 404);
}

}  // namespace
}  // namespace tidepool::test
